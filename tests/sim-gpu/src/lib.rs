//! The model of a simulated GPU: pure, takes the time as an argument.
