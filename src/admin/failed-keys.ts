import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { Clock } from '../runtime/clock.js';
import { sha256 } from '../runtime/digest.js';

/** Wrong keys that an address may send within the window, and the window's length in milliseconds. */
const FAILURES = 20;
const WINDOW_MS = 60_000;
/** How long a key that was right keeps its way in from its address, in milliseconds. */
const TRUSTED_MS = 3_600_000;
/** Addresses and known keys that are remembered at most; beyond, the oldest is forgotten. Some 2 MB in all. */
const REMEMBERED = 10_000;

/**
 * Limits how many wrong keys an address may try. While it is limited, no key of that address is looked at, neither
 * in the database nor in constant time, save one that was right from there within the hour: whoever shares an
 * address with an attacker, a proxy's above all, is not locked out by him.
 */
@Injectable()
export class FailedKeys {
  private readonly windows = new Map<string, { failures: number; endsAt: number }>();
  private readonly trusted = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** @returns seconds to wait, 1 or more, where this key of this address must not be looked at; else 0 */
  waitSeconds(address: string, key: string): number {
    const now = this.clock.now().getTime();
    const window = this.windows.get(network(address));
    if (!window || window.endsAt <= now || window.failures < FAILURES) return 0;
    if ((this.trusted.get(pair(address, key)) ?? 0) > now) return 0;
    return Math.ceil((window.endsAt - now) / 1000);
  }

  failed(address: string): void {
    const now = this.clock.now().getTime();
    const window = this.windows.get(network(address));
    if (window && window.endsAt > now) window.failures += 1;
    else remember(this.windows, network(address), { failures: 1, endsAt: now + WINDOW_MS });
  }

  succeeded(address: string, key: string): void {
    remember(this.trusted, pair(address, key), this.clock.now().getTime() + TRUSTED_MS);
  }
}

/** Whoever has an IPv6 address has the /64 around it. */
function network(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}

function pair(address: string, key: string): string {
  return `${network(address)} ${sha256(key).toString('base64')}`;
}

/** Put anew, it is the youngest; a Map keeps the order in which its keys came. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > REMEMBERED) map.delete(map.keys().next().value!);
}
