import Testing

@testable import TidegaugeProfiles

@Suite("Names of functions")
struct FunctionNameTests {
    @Test(
        "Symbols of this repository and of the libraries below it",
        arguments: [
            (
                "$s10RankedTree0B10DifferenceV4walk33_44E9FCE18970E21C74A9BD38A3C8B2C1LLyyAA10NodeCursorAELLVz_AGztF",
                "TreeDifference.walk(_:_:)"
            ),
            ("$s10RankedTree0A4NodeV6append4from_yAC_SnySiGtF", "RankedNode.append(from:_:)"),
            ("$s10RankedTree0A4NodeV6append_5stampyAA7BareKeyV_s6UInt64VtF", "RankedNode.append(_:stamp:)"),
            ("$s10RankedTree0A3KeyV1loiySbAC_ACtFZ", "static RankedKey.<(_:_:)"),
            ("$s12StillingWell1nopyAA6FilterVyxGAeA12StoredObjectCRbzlF", "!(_:)"),
            (
                "$s12StillingWell10TrackedRowCyS2ic33_89084D99417BD5FA5E07A026BD852B38Llig",
                "TrackedRow.subscript.getter(_:)"
            ),
            (
                "$s10RankedTreeAAV18StillingWellEngineE3has33_9F5E4EB0EE02A3B269AD39F040818FB9LLySbAA0A3KeyVF",
                "RankedTree.has(_:)"
            ),
            (
                "$s10TracedSync12WaitForGraphV5stuckShySiGvgSbyKXEfu0_SbSiXEfU0_TA",
                "closure #2 in implicit closure #2 in WaitForGraph.stuck.getter"
            ),
            (
                "$s5Basis8SpellingO7nearest2to5amongSSSgSS_SaySSGtFZ6foldedL_ySaySJGSSF",
                "folded #1(_:) in static Spelling.nearest(to:among:)"
            ),
            (
                "$s10RankedTree0B10DifferenceV4from2to2inAc2AV_AgA0B6WindowVtcfcfA1_",
                "default argument 2 of TreeDifference.init(from:to:in:)"
            ),
            ("$s10RankedTree0A3KeyVSgWOy", "outlined copy of Optional"),
            ("$s18StillingWellEngine9LiveQueryCMa", "type metadata accessor for LiveQuery"),
            (
                "$s10Foundation8NSStringCs7CVarArgAAsADP05_cVarD8EncodingSaySiGvgTW",
                "protocol witness for CVarArg._cVarArgEncoding.getter in NSString"
            ),
            ("$s10RankedTree0A4NodeVSiSSIgyyo_AC3key_Si5valuetSSs5NeverOIegnrzr_TRTA", "reabstraction thunk"),
            ("malloc@@GLIBC_2.2.5", "malloc"), ("(below main)", "(below main)"), ("$sNothing", "$sNothing"),
        ])
    func short(symbol: String, name: String) {
        #expect(FunctionName.short(symbol) == name)
    }

    @Test(
        "Versions of one function are one",
        arguments: [
            // Specialised, merged, and with a changed signature.
            (
                "$s10TracedSync8ExplorerV3runyAA13FoundScheduleVSgAA0F8Strategy_p_SStFTf4enn_nAA08ReplayedF0C_Tg5Tm",
                "Explorer.run(_:_:)"
            ),
            (
                "$s18StillingWellEngine8TreeFormV4tree6sorted06RankedD0AFVx_tSTRzAF0H5EntryV7ElementRtzlFs15LazyMapSequenceVySays6UInt64V6prefix_AO2idtGAIG_Tg5Tm",
                "TreeForm.tree(sorted:)"
            ),
            // A partial application of a specialisation that is not re-abstracted.
            (
                "$s12StillingWell11ListElementPAA0aB6Engine13StorableValueRzrlE9_preparedyyAD9RowBufferC_SitcAA10ConnectionCKFyAH_SitcfU_SS_TG5TA",
                "closure #1 in ListElement._prepared(_:)"
            ),
            // The second part of a coroutine.
            (
                "$s10Algorithms20CombinationsSequenceV8IteratorV7indexesSay5IndexQzGvM.resume.0",
                "CombinationsSequence.Iterator.indexes.modify"
            ),
            // An asynchronous function, and its rest after the first suspension.
            (
                "$s12StillingWell13ChangeChannelC4take9isolations6ResultOyxSg0aB6Engine0B5ErrorOGScA_pSgYi_tYaF",
                "ChangeChannel.take(isolation:)"
            ),
            (
                "$s12StillingWell13ChangeChannelC4take9isolations6ResultOyxSg0aB6Engine0B5ErrorOGScA_pSgYi_tYaFTY0_",
                "ChangeChannel.take(isolation:)"
            ),
        ])
    func versions(symbol: String, name: String) {
        #expect(FunctionName.short(symbol) == name)
    }
}
