//! Pages and sockets between the two sides, with real memfds: what a client may and may not do with what it was sent.
#![cfg(not(loom))]

use mgpu_protocol::gate::{Gate, GateState};
use mgpu_protocol::layout::{GrantsPage, TenantPage};
use mgpu_protocol::line::set_gate;
use mgpu_protocol::page::{Mapping, PageError, mapped_size};
use mgpu_protocol::socket;
use mgpu_protocol::sync::Ordering;
use mgpu_protocol::units::Nanos;
use mgpu_protocol::wait::{Futex, Parker, futex_half};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;

const OPEN: Gate = Gate { state: GateState::Open, ..Gate::CLOSED };

fn grants() -> (Mapping<GrantsPage>, OwnedFd) {
    Mapping::create(c"mgpu-test-grants").unwrap()
}

fn tenant() -> (Mapping<TenantPage>, OwnedFd) {
    Mapping::create(c"mgpu-test-tenant").unwrap()
}

/// A writable shared mapping of the descriptor; what the kernel says.
fn map_writable(fd: &OwnedFd) -> Result<(), i32> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh mapping, unmapped at once.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0));
    }
    // SAFETY: the mapping just made.
    unsafe { libc::munmap(at, 4096) };
    Ok(())
}

#[test]
fn a_client_reads_grants_and_can_never_write_them() {
    let (owner, fd) = grants();
    let client = Mapping::<GrantsPage>::open(fd.as_fd()).unwrap();
    set_gate(&owner.devices[0], OPEN);
    assert_eq!(client.devices[0].gate.load(Ordering::Acquire), OPEN.pack());
    assert_eq!(map_writable(&fd), Err(libc::EPERM));
}

#[test]
fn no_page_can_be_resized_or_sealed_further() {
    for fd in [grants().1, tenant().1] {
        for length in [0, 4096 * 1024] {
            // SAFETY: plain call on our own descriptor.
            assert_eq!(unsafe { libc::ftruncate(fd.as_raw_fd(), length) }, -1);
        }
        // SAFETY: plain call on our own descriptor.
        assert_eq!(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_WRITE) }, -1);
    }
}

#[test]
fn both_sides_write_a_tenants_page() {
    let (owner, fd) = tenant();
    let client = Mapping::<TenantPage>::open(fd.as_fd()).unwrap();
    client.slots[3].waiting.store(7, Ordering::Release);
    assert_eq!(owner.slots[3].waiting.load(Ordering::Acquire), 7);
    owner.slots[3].assign(9);
    assert_eq!(client.slots[3].waiting.load(Ordering::Acquire), 0);
}

#[test]
fn a_hole_in_a_tenants_page_reads_as_a_free_page() {
    let (owner, fd) = tenant();
    owner.slots[0].assign(1);
    let flags = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: plain call on our own descriptor: what a hostile client can do.
    assert_eq!(unsafe { libc::fallocate(fd.as_raw_fd(), flags, 0, 4096) }, 0);
    assert_eq!(owner.slots[0].epoch.load(Ordering::Acquire), 0);
    assert!(owner.claim_thread(0, 1, |_| false).is_some());
}

#[test]
fn a_foreign_descriptor_is_told_apart() {
    let (_tenant, tenant_fd) = tenant();
    let (_grants, grants_fd) = grants();
    assert!(matches!(Mapping::<GrantsPage>::open(tenant_fd.as_fd()), Err(PageError::Size { .. })));
    assert!(matches!(Mapping::<TenantPage>::open(grants_fd.as_fd()), Err(PageError::Size { .. })));
    let null = std::fs::File::open("/dev/null").unwrap();
    assert!(Mapping::<GrantsPage>::open(null.as_fd()).is_err());
    let unsealed = tempfile(mapped_size::<GrantsPage>());
    assert!(Mapping::<GrantsPage>::open(unsealed.as_fd()).is_err());
}

fn tempfile(bytes: usize) -> std::fs::File {
    let path = std::env::temp_dir().join(format!("mgpu-page-{}", std::process::id()));
    let file = std::fs::File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file.set_len(u64::try_from(bytes).unwrap()).unwrap();
    file
}

#[test]
fn another_layout_version_is_refused_by_name() {
    let (owner, fd) = grants();
    owner.version.store(2, Ordering::Relaxed);
    assert!(matches!(Mapping::<GrantsPage>::open(fd.as_fd()), Err(PageError::Version(2))));
    owner.magic.store(1, Ordering::Relaxed);
    assert!(matches!(Mapping::<GrantsPage>::open(fd.as_fd()), Err(PageError::Magic)));
}

#[test]
fn a_retired_page_stays_readable_and_says_closed() {
    let (owner, fd) = grants();
    set_gate(&owner.devices[0], OPEN);
    let client = Mapping::<GrantsPage>::open(fd.as_fd()).unwrap();
    let looking = &client.devices[0];
    assert!(client.retire());
    looking.limit.store(1, Ordering::Relaxed);
    assert_eq!(Gate::unpack(client.devices[0].gate.load(Ordering::Acquire)).state, GateState::Closed);
    assert_eq!(owner.devices[0].gate.load(Ordering::Acquire), OPEN.pack(), "nobody else's view changes");
}

#[test]
fn a_waiter_on_a_read_only_page_is_woken_by_the_owner() {
    let (owner, fd) = grants();
    let client = Mapping::<GrantsPage>::open(fd.as_fd()).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let gate = &client.devices[0].gate;
            loop {
                let word = gate.load(Ordering::Acquire);
                if Gate::unpack(word).state != GateState::Closed {
                    return;
                }
                // A lost wake-up would hang the test, not slow it.
                Futex.wait(gate, futex_half(word), Nanos(u64::MAX));
            }
        });
        set_gate(&owner.devices[0], OPEN);
        Futex.wake_all(&owner.devices[0].gate);
        waiter.join().unwrap();
    });
}

#[test]
fn a_wait_on_a_changed_word_returns_at_once() {
    let (owner, _fd) = grants();
    Futex.wait(&owner.devices[0].gate, 12_345, Nanos(u64::MAX));
}

fn socket_path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("mgpu-socket-{}-{name}", std::process::id()))
}

#[test]
fn descriptors_travel_beside_a_packet() {
    let path = socket_path("fds");
    let listener = socket::listen(&path).unwrap();
    let client = socket::connect(&path).unwrap();
    let server = socket::accept(listener.as_fd()).unwrap();
    let (page, fd) = tenant();
    socket::send(server.as_fd(), b"welcome", &[fd.as_fd(), fd.as_fd()]).unwrap();
    let mut buffer = [0; 64];
    let mut received = socket::receive(client.as_fd(), &mut buffer).unwrap();
    assert_eq!(&buffer[..received.len], b"welcome");
    assert!(received.descriptors[1].is_some() && received.descriptors[2].is_none());
    let page_there = Mapping::<TenantPage>::open(received.descriptors[0].take().unwrap().as_fd()).unwrap();
    page.slots[0].assign(4);
    assert_eq!(page_there.slots[0].epoch.load(Ordering::Acquire), 4);
    assert_eq!(socket::peer(server.as_fd()).unwrap().pid, i32::try_from(std::process::id()).unwrap());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn an_oversized_packet_is_an_error_and_the_next_one_is_whole() {
    let path = socket_path("size");
    let listener = socket::listen(&path).unwrap();
    let client = socket::connect(&path).unwrap();
    let server = socket::accept(listener.as_fd()).unwrap();
    socket::send(client.as_fd(), &[1; 100], &[]).unwrap();
    socket::send(client.as_fd(), &[2; 10], &[]).unwrap();
    let mut buffer = [0; 20];
    let error = socket::receive(server.as_fd(), &mut buffer).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    assert_eq!(socket::receive(server.as_fd(), &mut buffer).unwrap().len, 10);
    assert_eq!(socket::receive(server.as_fd(), &mut buffer).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    drop(client);
    assert_eq!(socket::receive(server.as_fd(), &mut buffer).unwrap().len, 0, "a hang-up");
    assert!(socket::send(server.as_fd(), b"x", &[]).is_err(), "an error, no signal");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_path_longer_than_an_address_works() {
    let directory = socket_path("long").join("d".repeat(120));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("socket");
    let listener = socket::listen(&path).unwrap();
    let client = socket::connect(&path).unwrap();
    let server = socket::accept(listener.as_fd()).unwrap();
    socket::send(client.as_fd(), b"hello", &[]).unwrap();
    assert_eq!(socket::receive(server.as_fd(), &mut [0; 16]).unwrap().len, 5);
    std::fs::remove_dir_all(socket_path("long")).unwrap();
}

#[test]
fn nobody_there_is_an_error() {
    assert!(socket::connect(&socket_path("none")).is_err());
}
