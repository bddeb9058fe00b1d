//! What the shim decides: ledger, gate, in-flight window, session. No clock, no unsafe.
