//! How the simulated driver and the simulated GPU talk: wire format and the client side of it.
