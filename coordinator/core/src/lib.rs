//! What the coordinator decides: engine, accounts, admission, policies. No clock, no I/O, no unsafe.
