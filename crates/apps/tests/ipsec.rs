//! The IPsec gateway: the ciphers against the vectors of their RFCs, whole packets against those that
//! another implementation made (pyca/cryptography 48), and what the other end of the tunnel gets.
#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

mod bench;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use aes::Aes128;
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use aes_gcm::aead::AeadInOut;
use apps::ipsec::{Cost, Ipsec, Keys, Policy, Sa, Selector, Spd, Suite, spi};
use apps::l3fwd::{Fib, L3fwd};
use apps::{App, Cause};
use bench::{Bench, L4, dropped, ipv4, ipv6, judge, region};
use hmac::Mac;
use memory::NativeView;
use memory::native::Table;
use packet::parse;

static FIB: LazyLock<Arc<Fib>> = LazyLock::new(|| Arc::new(Fib::default_route()));
const FROM: [u8; 4] = [192, 0, 2, 1];
const TO: [u8; 4] = [192, 0, 2, 2];
const SPI: u32 = 0x0102_0304;
const A: [u8; 4] = [10, 1, 2, 3];
const B: [u8; 4] = [198, 51, 100, 7];

fn keys(suite: Suite) -> Keys {
    let key = core::array::from_fn(|i| i as u8);
    match suite {
        Suite::Gcm => Keys::gcm(key, [0xa0, 0xa1, 0xa2, 0xa3]),
        Suite::CbcHmac => Keys::cbc_hmac(key, core::array::from_fn(|i| 0x20 + i as u8)),
    }
}

fn sa(suite: Suite) -> Sa {
    Sa::new(SPI, FROM, TO, keys(suite))
}

fn gateway<'r>(spd: Spd, sa: Sa) -> Ipsec<NativeView<'r>> {
    Ipsec::new(L3fwd::new(FIB.clone(), Table, 0), spd, sa, Cost::default())
}

fn all(policy: Policy) -> Spd {
    Spd::new(vec![(Selector::Any, policy)])
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
}

fn array<const N: usize>(hex: &str) -> [u8; N] {
    bytes(hex).try_into().unwrap()
}

#[test]
fn cbc_as_in_rfc_3602() {
    // Case 1.
    let mut block = [(*b"Single block msg").into()];
    let (key, iv) = (array("06a9214036b8a15b512e03d534120006"), array("3dafba429d9eb430b422da802c9fac41"));
    cbc::Encryptor::<Aes128>::new(&key.into(), &iv.into()).encrypt_blocks(&mut block);
    assert_eq!(block[0].as_slice(), bytes("e353779c1079aeb82708942dbe77181a"));
    // Case 5, an ESP packet of a ping in transport mode.
    let mut sealed = bytes(
        "f663c25d325c18c6a9453e194e120849a4870b66cc6b9965330013b4898dc856a4699e523a55db080b59ec3a8e4b7e52\
         775b07d1db34ed9c538ab50c551b874aa269add047ad2d5913ac19b7cfbad4a6",
    );
    let (key, iv) = (array("90d382b410eeba7ad938c46cec1a82bf"), array("e96e8c08ab465763fd098d45dd3ff893"));
    let (blocks, _) = aes::Block::slice_as_chunks_mut(&mut sealed);
    cbc::Decryptor::<Aes128>::new(&key.into(), &iv.into()).decrypt_blocks(blocks);
    assert_eq!(sealed[..8], bytes("08000ebda70a0000"));
    assert_eq!(sealed[64..], bytes("0102030405060708090a0b0c0d0e0e01"), "padding, its length, ICMP");
}

#[test]
fn hmac_as_in_rfc_4868_and_gcm_as_in_its_specification() {
    let mut mac = <hmac::Hmac<sha2::Sha256> as KeyInit>::new_from_slice(&[0x0b; 32]).unwrap();
    mac.update(b"Hi There");
    assert_eq!(mac.finalize().into_bytes()[..16], bytes("198a607eb44bfbc69903a0f1cf2bbdc5"));
    // Test case 4 of the specification that RFC 4106 is built on.
    let cipher = aes_gcm::Aes128Gcm::new(&array("feffe9928665731c6d6a8f9467308308").into());
    let mut text = bytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525\
         b16aedf5aa0de657ba637b39",
    );
    let known = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    let nonce: [u8; 12] = array("cafebabefacedbaddecaf888");
    let tag = cipher.encrypt_inout_detached(&nonce.into(), &known, text.as_mut_slice().into()).unwrap();
    assert_eq!(
        text,
        bytes(
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05\
             1ba30b396a0aac973d58e091"
        )
    );
    assert_eq!(tag.as_slice(), bytes("5bc94fbc3221a5db94fae95ae7121a47"));
}

#[test]
fn packets_are_those_of_another_implementation() {
    let inner: Vec<u8> = std::iter::once(0x45).chain(1..35).collect();
    for (suite, sealed) in [
        (
            Suite::Gcm,
            "4500005c000000004032f66cc0000201c00002020102030400000001000000000000000103701ef1688171578f654c1c\
             d7099a6901e30b9082e096b575e8910b00bb410dcbdaecaa273293d37d1707b5b6761037c5f708d7edd9470a",
        ),
        (
            Suite::CbcHmac,
            "4500006c000000004032f65cc0000201c000020201020304000000019503e3a2245a2be43c9874edfe1bed9ec7b61080\
             f66299e3e02492207de0238bf63fbe197cc5e3381fc208ddb4561a3936fffe82bc75c1397b385f4505167f280d66ae97\
             dac4d0355c161f7b9357c646",
        ),
    ] {
        let mut frame = vec![0; suite.frame(inner.len())];
        frame[suite.inner()..suite.inner() + inner.len()].copy_from_slice(&inner);
        sa(suite).seal(&mut frame, inner.len()).unwrap();
        assert_eq!(frame[14..], bytes(sealed), "{suite:?}");
    }
}

/// What the other end of the tunnel makes of a frame.
fn open(suite: Suite, frame: &[u8]) -> Option<Vec<u8>> {
    let mut frame = frame.to_vec();
    keys(suite).open(&mut frame).map(|inner| frame[inner].to_vec())
}

#[test]
fn the_other_end_gets_the_packet_one_hop_older() {
    let region = region();
    let mut bench = Bench::new(&region);
    for suite in Suite::ALL {
        let mut app = gateway(all(Policy::Protect), sa(suite));
        for payload in [0usize, 1, 2, 7, 18, 30, 100, 1000, 1458] {
            let payload = vec![payload as u8; payload];
            for (six, mut frame) in [
                (false, ipv4(A, B, (5, 6), L4::Udp, 64, &payload)),
                (true, ipv6([1; 16], [2; 16], (5, 6), L4::Tcp, 64, &payload)),
            ] {
                let packet = frame.len() - 14;
                frame.resize(frame.len().max(60), 0xee); // padding of the link: not part of the packet
                let sent = bench.one(&mut app, frame).unwrap();
                assert_eq!((sent.len(), spi(&sent)), (suite.frame(packet), Some(SPI)));
                assert_eq!((sent[6..12].to_vec(), parse(&sent).proto), (vec![2, 0, 0, 0, 0, 1], 50));
                let mut inner = vec![0; 14];
                inner[12..].copy_from_slice(if six { &[0x86, 0xdd] } else { &[8, 0] });
                inner.extend(open(suite, &sent).unwrap());
                assert_eq!(inner.len(), packet + 14);
                let seen = judge(&inner);
                assert_eq!((seen.life, seen.ports, seen.payload), (63, (5, 6), payload.clone()));
            }
        }
        assert_eq!(App::<NativeView<'_>>::counters(&app), [("sealed", 18)]);
    }
}

#[test]
fn a_changed_packet_does_not_open() {
    let region = region();
    let mut bench = Bench::new(&region);
    for suite in Suite::ALL {
        let mut app = gateway(all(Policy::Protect), sa(suite));
        let sent = bench.one(&mut app, ipv4(A, B, (5, 6), L4::Udp, 64, b"payload")).unwrap();
        assert!(open(suite, &sent).is_some());
        for at in 34..sent.len() {
            let mut torn = sent.clone();
            torn[at] ^= 4;
            assert_eq!(open(suite, &torn), None, "{suite:?}, byte {at}");
        }
        for len in 0..sent.len() {
            assert_eq!(open(suite, &sent[..len]), None, "{suite:?}, {len} bytes");
        }
        let other = if suite == Suite::Gcm { Suite::CbcHmac } else { Suite::Gcm };
        assert_eq!(open(other, &sent), None);
    }
}

#[test]
fn no_two_packets_are_sealed_alike() {
    let region = region();
    let mut bench = Bench::new(&region);
    for suite in Suite::ALL {
        let mut app = gateway(all(Policy::Protect), sa(suite));
        let frame = ipv4(A, B, (5, 6), L4::Udp, 64, b"the same");
        let sent: Vec<_> = (0..50).map(|_| bench.one(&mut app, frame.clone()).unwrap()).collect();
        for (i, one) in sent.iter().enumerate() {
            assert_eq!(one[38..42], (i as u32 + 1).to_be_bytes(), "sequence numbers count from 1");
            let (iv, text) = (42..suite.inner(), suite.inner()..one.len() - 16);
            let alike = |other: &&Vec<u8>| {
                other[iv.clone()] == one[iv.clone()] || other[text.clone()] == one[text.clone()]
            };
            assert_eq!(sent.iter().filter(alike).count(), 1);
        }
    }
}

#[test]
fn policies_decide_by_flow_in_thirds() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = gateway(Spd::thirds(), sa(Suite::Gcm));
    let mut fates = BTreeMap::new();
    for port in 0..3000 {
        let fate = [0, 1].map(|_| {
            let frame = ipv4(A, B, (port, 80), L4::Udp, 64, b"x");
            bench.one(&mut app, frame).map(|sent| spi(&sent).is_some())
        });
        assert_eq!(fate[0], fate[1], "a flow has one policy");
        *fates.entry(fate[0]).or_insert(0) += 1;
    }
    assert!(fates.values().all(|n| (900..1100).contains(n)), "{fates:?}");
    assert_eq!(fates.len(), 3);
}

#[test]
fn the_first_policy_that_takes_a_packet_counts() {
    let region = region();
    let mut bench = Bench::new(&region);
    let to = |prefix: &str, length| Selector::To { prefix: prefix.parse().unwrap(), length };
    let spd = Spd::new(vec![
        (to("198.51.100.7", 32), Policy::Bypass),
        (to("198.51.100.0", 24), Policy::Protect),
        (Selector::Protocol(1), Policy::Discard),
        (to("2001:db8::", 32), Policy::Protect),
        (to("0.0.0.0", 0), Policy::Bypass),
    ]);
    let mut app = gateway(spd, sa(Suite::Gcm));
    let mut fate = |frame| bench.one(&mut app, frame).map(|sent| spi(&sent).is_some());
    let udp = |to| ipv4(A, to, (1, 2), L4::Udp, 64, b"");
    assert_eq!(fate(udp(B)), Some(false));
    assert_eq!(fate(udp([198, 51, 100, 8])), Some(true));
    assert_eq!(fate(udp([9, 9, 9, 9])), Some(false));
    assert_eq!(fate(ipv4(A, [9, 9, 9, 9], (1, 2), L4::Echo, 64, b"")), None);
    let mut six = [0; 16];
    six[..4].copy_from_slice(&[0x20, 1, 0xd, 0xb8]);
    assert_eq!(fate(ipv6([1; 16], six, (1, 2), L4::Udp, 64, b"")), Some(true));
    six[3] = 0xb9;
    assert_eq!(fate(ipv6([1; 16], six, (1, 2), L4::Udp, 64, b"")), None, "no policy takes it");
}

#[test]
fn what_cannot_be_sealed_is_dropped_with_its_cause() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = gateway(all(Policy::Protect), sa(Suite::Gcm));
    let mut run = |frame: Vec<u8>| bench.run(&mut app, &[frame]).1;
    assert!(dropped(&run(ipv4(A, B, (1, 2), L4::Udp, 64, &[0; 2000])), Cause::TooLong));
    assert!(dropped(&run(ipv4(A, B, (1, 2), L4::Udp, 1, b"")), Cause::TtlExpired));
    let mut lying = ipv4(A, B, (1, 2), L4::Udp, 64, b"12345678");
    lying[16..18].copy_from_slice(&200u16.to_be_bytes());
    assert!(dropped(&run(lying), Cause::BadHeader));
    assert!(dropped(
        &bench
            .run(&mut gateway(all(Policy::Discard), sa(Suite::Gcm)), &[ipv4(A, B, (1, 2), L4::Udp, 64, b"")])
            .1,
        Cause::Policy
    ));
}

#[test]
fn without_keys_lengths_and_headers_are_the_same() {
    let region = region();
    let mut bench = Bench::new(&region);
    for suite in Suite::ALL {
        let frame = ipv4(A, B, (5, 6), L4::Udp, 64, &[7; 100]);
        let real = bench.one(&mut gateway(all(Policy::Protect), sa(suite)), frame.clone()).unwrap();
        let declared = Sa::declared(suite, SPI, FROM, TO);
        let shape = bench.one(&mut gateway(all(Policy::Protect), declared), frame).unwrap();
        assert_eq!((real.len(), &real[..42]), (shape.len(), &shape[..42]));
        assert!(shape[suite.inner()..].iter().all(|b| *b == 0), "and nothing of the packet");
    }
}
