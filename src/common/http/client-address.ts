import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, type Socket } from 'node:net';

/** Maximum number of proxies between a client and the server. */
const MAX_HOPS = 16;
/** The socket was closed before its address was read. */
const UNKNOWN = 'unknown';
const IPV6_NETWORK_GROUPS = 4;
/** The limit of an IPv6 /48 as a multiple of the limit of one of its 65,536 /64s. */
const NETWORK_TIMES = 4;
/** The prefix of an address as an owner; no user id starts with it. */
const UNAUTHENTICATED_AT = 'address ';
/** The tenant of all requests without a token. */
export const UNAUTHENTICATED = 'unauthenticated';

/**
 * The client address that limits count: an IPv4 address, or an IPv6 /64, which is what one subscriber has.
 * X-Forwarded-For is trusted only from trusted proxies, and only the part that they wrote.
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

  /** Whether the peer is a trusted proxy, whose connection many clients may share. */
  isProxy(socket: Socket): boolean {
    return this.isTrusted(normalize(socket.remoteAddress ?? ''));
  }

  /** The address of the peer, even if it is a proxy. */
  ofSocket(socket: Socket): string {
    return network(normalize(socket.remoteAddress ?? '')) ?? UNKNOWN;
  }

  /** The address of the client that sent the request. */
  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    let address = normalize(socket.remoteAddress ?? '');
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined || !this.isTrusted(address)) return network(address) ?? UNKNOWN;
    // Each proxy appends the address of its peer; entries before that can be forged by the client.
    const hops = String(forwarded).split(',').filter(isNotBlank).slice(-MAX_HOPS).reverse();
    for (const hop of hops) {
      const hopAddress = addressIn(hop);
      if (isIP(hopAddress) === 0) break;
      address = hopAddress;
      if (!this.isTrusted(address)) break;
    }
    return network(address) ?? UNKNOWN;
  }

  /** The owner that limits count for a request: the user, or the address of an unauthenticated request. */
  ownerOf(request: IncomingMessage, userId: string | null | undefined): string {
    return userId ?? UNAUTHENTICATED_AT + this.of(request);
  }

  private isTrusted(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.trusted.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/** A network that limits count, and its limit as a multiple of the limit of one address. */
export interface Network {
  key: string;
  times: number;
}

/** The networks that an address counts for: itself, and its /48 if it is a /64. */
export function networksOf(address: string): readonly Network[] {
  const own = { key: address, times: 1 };
  const widest = widestNetworkOf(address);
  return widest === address ? [own] : [own, { key: widest, times: NETWORK_TIMES }];
}

/** The largest network that one subscriber may have around an address; the key for fair queueing. */
export function widestNetworkOf(address: string): string {
  if (!address.endsWith('::/64')) return address;
  return `${address.slice(0, address.lastIndexOf(':', address.length - 6))}::/48`;
}

/** Whether an owner is the address of unauthenticated requests. */
export function isUnauthenticated(owner: string): boolean {
  return owner.startsWith(UNAUTHENTICATED_AT);
}

/** The tenant of an owner in queues and budgets: requests without a token are one tenant, since addresses are cheap. */
export function tenantOf(owner: string): string {
  return isUnauthenticated(owner) ? UNAUTHENTICATED : owner;
}

const isNotBlank = (hop: string): boolean => hop.trim() !== '';

/**
 * Parses an entry of X-Forwarded-For. Some proxies add the client's port, put IPv6 in brackets, or quote the entry.
 * An entry with a single colon is IPv4 with a port.
 */
function addressIn(hop: string): string {
  const text = hop.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed, beforePort] = /^\[([^\]]*)\](?::[^\]]*)?$|^([^:]*):[^:]*$/.exec(text) ?? [];
  return normalize(bracketed ?? beforePort ?? text);
}

/** The address without its zone; IPv4-mapped IPv6 becomes IPv4. */
function normalize(address: string): string {
  const [withoutZone = ''] = address.split('%');
  if (isIP(withoutZone) !== 6) return withoutZone;
  const mapped = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(new URL(`http://[${withoutZone}]`).hostname);
  if (mapped === null) return withoutZone;
  const [high, low] = [parseInt(mapped[1]!, 16), parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The counted form of an address: IPv4 as it is, IPv6 as its /64; null if invalid. */
function network(address: string): string | null {
  const family = isIP(address);
  if (family !== 6) return family === 4 ? address : null;
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? 0 : tail.split(':').length;
  while (tail !== undefined && groups.length + after < 8) groups.push('0');
  return `${[...groups, '0', '0', '0', '0'].slice(0, IPV6_NETWORK_GROUPS).join(':')}::/64`;
}
