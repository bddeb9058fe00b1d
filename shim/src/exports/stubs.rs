//! The exported functions: two instructions each, a jump through the record's `bound`. They know no signature, so a
//! library of the application that happens to export one of these names with another meaning is reached untouched.

use super::records;
use std::arch::naked_asm;

macro_rules! stubs {
    ($($class:ident $detail:tt $status:ident $words:tt $family:ident {
        $($since:literal $name:ident $args:tt $(, $twin_since:literal $twin:ident)?;)+
    })*) => { $($(
        stub! { $status $name }
        $(stub! { $status $twin })?
    )+)* };
}

macro_rules! stub {
    (now $name:ident) => {
        /// # Safety
        /// As the driver's function of this name; arguments pass through untouched.
        #[unsafe(naked)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(non_snake_case, reason = "the driver's name")]
        pub(super) unsafe extern "C" fn $name() {
            jump_through!(records::$name)
        }
    };
    ($status:ident $name:ident) => {};
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump_through {
    ($record:path) => {
        naked_asm!("lea r11, [rip + {record}]", "jmp qword ptr [r11]", record = sym $record)
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump_through {
    ($record:path) => {
        naked_asm!(
            "adrp x16, {record}",
            "add x16, x16, :lo12:{record}",
            "ldr x17, [x16]",
            "br x17",
            record = sym $record
        )
    };
}

mgpu_cuda::for_each_family!(stubs);
