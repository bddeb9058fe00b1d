//! What a stream can be told to do, and its form in a ring slot: one word of kind and stream, 13 words of arguments.
//!
//! Decoding believes nothing: a slot is written by a process that may lie. It must never know who submits.

use crate::ring::{BODY, Body};
use crate::types::{AllocId, ContextId, EventId, FunctionId, GraphId, StreamId};
use serde::{Deserialize, Serialize};

/// Which way a copy goes: it picks the engine that does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// Host to device, on a copy engine.
    HostToDevice,
    /// Device to host, on a copy engine.
    DeviceToHost,
    /// Within device memory: runs like a kernel.
    DeviceToDevice,
    /// Host to host.
    HostToHost,
    /// Between two devices.
    Peer,
}

/// How a wait compares the word in memory (`m`) with its value (`v`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Condition {
    /// `(signed)(m - v) >= 0`, cyclic.
    GreaterOrEqual,
    /// `m == v`.
    Equal,
    /// `m & v != 0`.
    And,
    /// `!(m | v) != 0`.
    Nor,
}

/// Bytes between rows and between slices of one side of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pitch {
    /// From row to row.
    pub row: u64,
    /// From slice to slice.
    pub slice: u64,
}

/// One thing for a stream to do. All addresses are those of the submitting process and must stay valid until the op is
/// complete; a bad one is not a crash, the op then does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Runs for as long as the model's rules say.
    Kernel {
        /// From [`crate::Session::register_function`].
        function: FunctionId,
        /// Blocks in x, y, z.
        grid: [u32; 3],
        /// Threads in x, y, z.
        block: [u32; 3],
        /// Dynamic shared memory, bytes.
        shared: u32,
        /// All blocks are resident together.
        cooperative: bool,
    },
    /// `height` × `depth` rows of `width` bytes. A plain copy has `height` = `depth` = 1.
    Copy {
        /// Destination.
        dst: u64,
        /// Source, read when the op runs.
        src: u64,
        /// Bytes of a row.
        width: u64,
        /// Rows of a slice.
        height: u32,
        /// Slices.
        depth: u32,
        /// Distances at the destination.
        dst_pitch: Pitch,
        /// Distances at the source.
        src_pitch: Pitch,
        /// Engine.
        direction: Direction,
    },
    /// Fills `height` rows of `width` elements.
    Memset {
        /// Destination.
        dst: u64,
        /// Low `element` bytes count.
        value: u32,
        /// Bytes of an element: 1, 2 or 4.
        element: u8,
        /// Elements of a row.
        width: u64,
        /// Rows.
        height: u64,
        /// Bytes from row to row.
        pitch: u64,
    },
    /// A store by the device.
    WriteWord {
        /// Where.
        address: u64,
        /// What.
        value: u64,
        /// Bytes: 4 or 8.
        width: u8,
    },
    /// The stream waits until the word fits. The device polls it.
    WaitWord {
        /// Where.
        address: u64,
        /// Compared with.
        value: u64,
        /// Bytes: 4 or 8.
        width: u8,
        /// How.
        condition: Condition,
    },
    /// Takes the time when all before it in the stream is complete. Use [`crate::Session::record`].
    EventRecord {
        /// Which.
        event: EventId,
        /// Number of this record, counted by the client.
        record: u32,
    },
    /// The stream waits for that record of that event.
    EventWait {
        /// Which.
        event: EventId,
        /// Number of the record.
        record: u32,
    },
    /// Calls a function in the client, on a thread of the link; the stream waits for its return.
    HostFunc {
        /// From the session's table.
        token: u64,
    },
    /// Gives a pool allocation back when reached.
    PoolFree {
        /// Which.
        alloc: AllocId,
    },
    /// Runs an uploaded graph.
    Graph {
        /// From [`crate::Session::define_graph`].
        graph: GraphId,
    },
    /// Does nothing, in order.
    Nop,
}

/// A node of a graph: what it does and which earlier nodes it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphNode {
    /// Neither `Graph` nor `EventWait` of an event recorded within the same graph.
    pub op: Op,
    /// Indices below its own.
    pub after: Vec<u32>,
}

/// One entry of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Work for a stream.
    Submit(StreamId, Op),
    /// A host call has returned; the number came with the call.
    HostDone(u64),
    /// A thread has waited for work of this context: pools trim now.
    Synchronized(ContextId),
}

/// Index of the head word in a [`Body`]: kind in bits 0–7, small arguments in 8–31, stream in 32–63.
const HEAD: usize = 1;
/// Index of the first argument.
const FIRST: usize = 2;

/// Splits a word in its low and high halves.
fn halves(word: u64) -> [u32; 2] {
    [(word & 0xffff_ffff) as u32, (word >> 32) as u32]
}

/// Joins two halves.
fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl Direction {
    const ALL: [Self; 5] = [Self::HostToDevice, Self::DeviceToHost, Self::DeviceToDevice, Self::HostToHost, Self::Peer];
}

impl Condition {
    const ALL: [Self; 4] = [Self::GreaterOrEqual, Self::Equal, Self::And, Self::Nor];

    /// Whether `word` lets the wait pass; both are cut to `width` bytes.
    #[must_use]
    pub fn holds(self, word: u64, value: u64, width: u8) -> bool {
        let (shift, mask) = if width == 4 { (32, 0xffff_ffff) } else { (0, u64::MAX) };
        match self {
            Self::GreaterOrEqual => (word.wrapping_sub(value) << shift) >> 63 == 0,
            Self::Equal => (word ^ value) & mask == 0,
            Self::And => word & value & mask != 0,
            Self::Nor => !(word | value) & mask != 0,
        }
    }
}

/// A body of this kind, small argument, stream and arguments.
fn body(kind: u8, small: u32, stream: u32, arguments: &[u64]) -> Body {
    let mut body = [0; BODY];
    body[HEAD] = join(u32::from(kind) | small << 8, stream);
    for (word, argument) in body[FIRST..].iter_mut().zip(arguments) {
        *word = *argument;
    }
    body
}

/// The ring's form of an entry; the stamp is left to [`crate::ring::push`].
#[must_use]
pub fn encode(entry: &Entry) -> Body {
    match *entry {
        Entry::Submit(stream, op) => encode_op(stream.0, op),
        Entry::HostDone(answer) => body(64, 0, 0, &[answer]),
        Entry::Synchronized(context) => body(65, 0, context.0, &[]),
    }
}

fn encode_op(stream: u32, op: Op) -> Body {
    match op {
        Op::Kernel { function, grid, block, shared, cooperative } => body(
            1,
            u32::from(cooperative),
            stream,
            &[join(function.0, shared), join(grid[0], grid[1]), join(grid[2], block[0]), join(block[1], block[2])],
        ),
        Op::Copy { dst, src, width, height, depth, dst_pitch, src_pitch, direction } => body(
            2,
            direction as u32,
            stream,
            &[dst, src, width, join(height, depth), dst_pitch.row, dst_pitch.slice, src_pitch.row, src_pitch.slice],
        ),
        Op::Memset { dst, value, element, width, height, pitch } => {
            body(3, u32::from(element), stream, &[dst, u64::from(value), width, height, pitch])
        }
        Op::WriteWord { address, value, width } => body(4, u32::from(width), stream, &[address, value]),
        Op::WaitWord { address, value, width, condition } => {
            body(5, u32::from(width) | (condition as u32) << 8, stream, &[address, value])
        }
        Op::EventRecord { event, record } => body(6, 0, stream, &[join(event.0, record)]),
        Op::EventWait { event, record } => body(7, 0, stream, &[join(event.0, record)]),
        Op::HostFunc { token } => body(8, 0, stream, &[token]),
        Op::PoolFree { alloc } => body(9, 0, stream, &[alloc.0]),
        Op::Graph { graph } => body(10, 0, stream, &[u64::from(graph.0)]),
        Op::Nop => body(11, 0, stream, &[]),
    }
}

/// Reads an entry back. `None` for anything that [`encode`] cannot have made.
#[must_use]
pub fn decode(body: &Body) -> Option<Entry> {
    let [low, high] = halves(body[HEAD]);
    let (kind, small) = (low & 0xff, low >> 8);
    let arguments = &body[FIRST..];
    match kind {
        64 => Some(Entry::HostDone(arguments[0])),
        65 => Some(Entry::Synchronized(ContextId(high))),
        _ => decode_op(kind, small, arguments).filter(Op::is_sane).map(|op| Entry::Submit(StreamId(high), op)),
    }
}

fn decode_op(kind: u32, small: u32, a: &[u64]) -> Option<Op> {
    let byte = (small & 0xff) as u8;
    let [low, high] = halves(a[0]);
    Some(match kind {
        1 => {
            let ([gx, gy], [gz, bx], [by, bz]) = (halves(a[1]), halves(a[2]), halves(a[3]));
            Op::Kernel {
                function: FunctionId(low),
                grid: [gx, gy, gz],
                block: [bx, by, bz],
                shared: high,
                cooperative: small & 1 != 0,
            }
        }
        2 => {
            let [height, depth] = halves(a[3]);
            Op::Copy {
                dst: a[0],
                src: a[1],
                width: a[2],
                height,
                depth,
                dst_pitch: Pitch { row: a[4], slice: a[5] },
                src_pitch: Pitch { row: a[6], slice: a[7] },
                direction: *Direction::ALL.get(small as usize)?,
            }
        }
        3 => Op::Memset { dst: a[0], value: halves(a[1])[0], element: byte, width: a[2], height: a[3], pitch: a[4] },
        4 => Op::WriteWord { address: a[0], value: a[1], width: byte },
        5 => {
            let condition = *Condition::ALL.get((small >> 8) as usize)?;
            Op::WaitWord { address: a[0], value: a[1], width: byte, condition }
        }
        6 => Op::EventRecord { event: EventId(low), record: high },
        7 => Op::EventWait { event: EventId(low), record: high },
        8 => Op::HostFunc { token: a[0] },
        9 => Op::PoolFree { alloc: AllocId(a[0]) },
        10 => Op::Graph { graph: GraphId(low) },
        11 => Op::Nop,
        _ => return None,
    })
}

impl Op {
    /// Whether the numbers can be computed with: widths that exist, sizes whose products fit. Says nothing of addresses.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        match *self {
            Self::Kernel { grid, block, .. } => grid.iter().chain(&block).all(|&size| size > 0),
            Self::Copy { .. } | Self::Memset { .. } => self.bytes().is_some(),
            Self::WriteWord { width, .. } | Self::WaitWord { width, .. } => width == 4 || width == 8,
            _ => true,
        }
    }

    /// Rows that a copy or memset moves one by one; 0 for other ops. `None` when they are too many to count.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        match *self {
            Self::Copy { height, depth, .. } => u64::from(height).checked_mul(u64::from(depth)),
            Self::Memset { height, .. } => Some(height),
            _ => Some(0),
        }
    }

    /// Bytes that a copy or memset moves; 0 for other ops, `None` when they are more than there can be (2^47, or 2^26 rows).
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.rows().filter(|&rows| rows <= 1 << 26)?;
        let bytes = match *self {
            Self::Copy { width, height, depth, .. } => {
                width.checked_mul(u64::from(height))?.checked_mul(u64::from(depth))?
            }
            Self::Memset { element, width, height, .. } if matches!(element, 1 | 2 | 4) => {
                width.checked_mul(height)?.checked_mul(u64::from(element))?
            }
            Self::Memset { .. } => return None,
            _ => 0,
        };
        (bytes < 1 << 47).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pitch() -> impl Strategy<Value = Pitch> {
        (any::<u64>(), any::<u64>()).prop_map(|(row, slice)| Pitch { row, slice })
    }

    fn op() -> impl Strategy<Value = Op> {
        let width = prop_oneof![Just(4u8), Just(8u8)];
        prop_oneof![
            (any::<u32>(), [1..u32::MAX, 1..9, 1..9], [1u32..1025, 1..9, 1..9], any::<u32>(), any::<bool>()).prop_map(
                |(function, grid, block, shared, cooperative)| Op::Kernel {
                    function: FunctionId(function),
                    grid,
                    block,
                    shared,
                    cooperative
                }
            ),
            (any::<u64>(), any::<u64>(), 0u64..1 << 40, 0u32..8, 0u32..8, pitch(), pitch(), 0usize..5).prop_map(
                |(dst, src, width, height, depth, dst_pitch, src_pitch, way)| Op::Copy {
                    dst,
                    src,
                    width,
                    height,
                    depth,
                    dst_pitch,
                    src_pitch,
                    direction: Direction::ALL[way]
                }
            ),
            (any::<u64>(), any::<u32>(), 0usize..3, 0u64..1 << 30, 0u64..64, any::<u64>()).prop_map(
                |(dst, value, element, width, height, pitch)| Op::Memset {
                    dst,
                    value,
                    element: [1, 2, 4][element],
                    width,
                    height,
                    pitch
                }
            ),
            (any::<u64>(), any::<u64>(), width.clone()).prop_map(|(address, value, width)| Op::WriteWord {
                address,
                value,
                width
            }),
            (any::<u64>(), any::<u64>(), width, 0usize..4).prop_map(|(address, value, width, condition)| {
                Op::WaitWord { address, value, width, condition: Condition::ALL[condition] }
            }),
            (any::<u32>(), any::<u32>()).prop_map(|(event, record)| Op::EventRecord { event: EventId(event), record }),
            (any::<u32>(), any::<u32>()).prop_map(|(event, record)| Op::EventWait { event: EventId(event), record }),
            any::<u64>().prop_map(|token| Op::HostFunc { token }),
            any::<u64>().prop_map(|alloc| Op::PoolFree { alloc: AllocId(alloc) }),
            any::<u32>().prop_map(|graph| Op::Graph { graph: GraphId(graph) }),
            Just(Op::Nop),
        ]
    }

    proptest! {
        #[test]
        fn every_op_comes_back_as_it_went(stream in any::<u32>(), op in op()) {
            let entry = Entry::Submit(StreamId(stream), op);
            prop_assert_eq!(decode(&encode(&entry)), Some(entry));
        }

        #[test]
        fn no_body_is_a_crash_and_what_is_read_is_sane(body in any::<[u64; BODY]>(), kind in 0u64..80) {
            let mut body = body;
            body[HEAD] = body[HEAD] & !0xff | kind;
            if let Some(Entry::Submit(_, op)) = decode(&body) {
                prop_assert!(op.is_sane());
            }
        }
    }

    #[test]
    fn waits_compare_as_the_driver_says() {
        assert!(Condition::GreaterOrEqual.holds(3, 3, 4) && !Condition::GreaterOrEqual.holds(2, 3, 4));
        assert!(Condition::GreaterOrEqual.holds(1, 0xffff_fffe, 4));
        assert!(!Condition::GreaterOrEqual.holds(1, 0xffff_fffe, 8));
        assert!(Condition::Equal.holds(7 | 1 << 40, 7, 4) && !Condition::Equal.holds(7 | 1 << 40, 7, 8));
        assert!(Condition::And.holds(6, 2, 4) && !Condition::And.holds(4, 2, 4));
        assert!(Condition::Nor.holds(1, 2, 4) && !Condition::Nor.holds(0xffff_0000, 0xffff, 4));
    }
}
