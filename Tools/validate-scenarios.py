"""validate-scenarios.py SCHEMA FILE…: checks whether scenario files are valid by the schema of `tidegauge schema`, as
the two versions of YAML in use read them. PyYAML reads YAML 1.1, ruamel.yaml YAML 1.2; both and jsonschema come from
PyPI."""
import json
import sys

import jsonschema
import ruamel.yaml
import yaml

schema, files = sys.argv[1], sys.argv[2:]
validator = jsonschema.Draft202012Validator(json.load(open(schema)))
readers = {"YAML 1.1": yaml.safe_load, "YAML 1.2": ruamel.yaml.YAML(typ="safe", pure=True).load}
faults = [
    f"{file}: {version}: {'/'.join(map(str, fault.absolute_path))}: {fault.message}"
    for file in files
    for version, read in readers.items()
    for fault in validator.iter_errors(read(open(file, encoding="utf-8").read()))
]
print("\n".join(faults) if faults else f"{len(files)} files are valid by {' and '.join(readers)}")
sys.exit(1 if faults else 0)
