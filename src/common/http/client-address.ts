import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, type Socket } from 'node:net';

/** Proxies between a client and us that are followed, at most. */
const MAX_HOPS = 16;
/** Whoever left before anybody asked. */
const UNKNOWN = 'unknown';
const IPV6_NETWORK_GROUPS = 4;
/** Who has a /48 has 65,536 of /64: together they may have so many times what one of them may. */
const NETWORK_TIMES = 4;
/** What stands before an address where it owns something: no id of a user begins so. */
const UNAUTHENTICATED_AT = 'address ';
/** All requests without a token together. */
export const UNAUTHENTICATED = 'unauthenticated';

/**
 * Where requests come from, as limits count it: an address of IPv4, a /64 of IPv6, since that is what one subscriber
 * has. X-Forwarded-For is believed from trusted proxies alone, and of it no more than these have written.
 */
export class ClientAddresses {
  private readonly trusted = new BlockList();

  /** @param proxies addresses or CIDR. */
  constructor(proxies: readonly string[]) {
    for (const proxy of proxies) {
      const [address = '', bits] = proxy.split('/');
      const family = isIPv4(address) ? 'ipv4' : 'ipv6';
      if (bits === undefined) this.trusted.addAddress(address, family);
      else this.trusted.addSubnet(address, Number(bits), family);
    }
  }

  /** Whether the connection is a trusted proxy's, so that many clients may share it. */
  isProxy(socket: Socket): boolean {
    return this.isTrusted(plain(socket.remoteAddress ?? ''));
  }

  /** Of whoever is at the other end of the connection, be it a proxy. */
  ofSocket(socket: Socket): string {
    return network(plain(socket.remoteAddress ?? '')) ?? UNKNOWN;
  }

  /** Of whoever sent the request. */
  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    let address = plain(socket.remoteAddress ?? '');
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined || !this.isTrusted(address)) return network(address) ?? UNKNOWN;
    // Each proxy appends whom it was asked by; what stands before that, anybody may have written.
    const hops = String(forwarded).split(',').filter(isNotBlank).slice(-MAX_HOPS).reverse();
    for (const hop of hops) {
      const named = addressIn(hop);
      if (isIP(named) === 0) break;
      address = named;
      if (!this.isTrusted(address)) break;
    }
    return network(address) ?? UNKNOWN;
  }

  /** Whom what a request holds or does counts for: the user who sent it, or the stranger at its address. */
  ownerOf(request: IncomingMessage, userId: string | null | undefined): string {
    return userId ?? UNAUTHENTICATED_AT + this.of(request);
  }

  private isTrusted(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.trusted.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/** Something that limits count, and how many times the limit of one address it may have. */
export interface Network {
  key: string;
  times: number;
}

/** What an address counts for: itself, and the /48 that it is in where it is a /64. */
export function networksOf(address: string): readonly Network[] {
  const own = { key: address, times: 1 };
  const wide = widestOf(address);
  return wide === address ? [own] : [own, { key: wide, times: NETWORK_TIMES }];
}

/** The largest network that one subscriber may have around an address: who takes turns takes them by these. */
export function widestOf(address: string): string {
  if (!address.endsWith('::/64')) return address;
  return `${address.slice(0, address.lastIndexOf(':', address.length - 6))}::/48`;
}

/** Whether an owner is the address of requests without a token, not a user. */
export function isUnauthenticated(owner: string): boolean {
  return owner.startsWith(UNAUTHENTICATED_AT);
}

/** Who shares with an owner in turns and bytes: all requests without a token are one, since addresses cost nothing. */
export function tenantOf(owner: string): string {
  return isUnauthenticated(owner) ? UNAUTHENTICATED : owner;
}

const isNotBlank = (hop: string): boolean => hop.trim() !== '';

/**
 * The address that an entry of X-Forwarded-For names. Some proxies add the client's port, and put IPv6 in brackets, or
 * all of it in quotes. One colon alone is no IPv6, so a port stands behind it.
 */
function addressIn(hop: string): string {
  const text = hop.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed, beforePort] = /^\[([^\]]*)\](?::[^\]]*)?$|^([^:]*):[^:]*$/.exec(text) ?? [];
  return plain(bracketed ?? beforePort ?? text);
}

/** An address without its zone; one of IPv4 that is mapped into IPv6, however it is spelt, as IPv4. */
function plain(address: string): string {
  const [bare = ''] = address.split('%');
  if (isIP(bare) !== 6) return bare;
  const mapped = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(new URL(`http://[${bare}]`).hostname);
  if (mapped === null) return bare;
  const [high, low] = [parseInt(mapped[1]!, 16), parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** What counts as one address; null where it is none. */
function network(address: string): string | null {
  const family = isIP(address);
  if (family !== 6) return family === 4 ? address : null;
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? 0 : tail.split(':').length;
  while (tail !== undefined && groups.length + after < 8) groups.push('0');
  return `${[...groups, '0', '0', '0', '0'].slice(0, IPV6_NETWORK_GROUPS).join(':')}::/64`;
}
