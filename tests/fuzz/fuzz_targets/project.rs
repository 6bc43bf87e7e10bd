#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolyard_tests::fuzzing::project_schema(data));
