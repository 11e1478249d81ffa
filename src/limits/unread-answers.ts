import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';
import type { AccessedRequest } from '../common/access.js';
import { DomainError } from '../common/domain-error.js';
import { Budget, type ByteReservation, type Excess } from './budget.js';
import { longTimeout } from '../common/timers.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { onResponseClosed } from '../common/http/response-closed.js';

/** Minimum rate of a reader, bytes/s. */
const BYTES_PER_SECOND = 64 * 1024;
/** What the kernel buffers at once is not counted. */
const UNCOUNTED_BYTES = 1024;
/** Responses up to this size are sent however much other owners leave unread. */
const SMALL_BYTES = 64 * 1024;
/** A response of unknown size that may be a file counts as this part of the budget, at least. */
const PART_OF_FILE = 16;
const RETRY_AFTER_SECONDS = 5;

/** Bounds responses that wait for their readers: how long each may, and how many bytes in total. */
export class UnreadAnswers {
  private readonly addresses: ClientAddresses;
  private readonly budget: Budget;
  /** Reservations of responses that are being prepared or wait to be read. */
  private readonly reservations = new WeakMap<ServerResponse, ByteReservation>();

  constructor(private readonly config: Config) {
    this.addresses = new ClientAddresses(config.trustedProxies);
    this.budget = new Budget({ bytes: config.maxUnreadBytes, smallBytes: SMALL_BYTES });
  }

  /** Bytes that wait to be read, of all owners. */
  get held(): number {
    return this.budget.held;
  }

  /** Throws if the caller's unread responses leave no room for another file, before one is prepared. */
  check(request: FastifyRequest): void {
    const owner = this.ownerOf(request);
    if (this.budget.heldBy(owner) > 0) this.refuseExcess(owner, this.budget.excess(owner, this.unknownBytes));
  }

  /**
   * Reserves a response before its bytes are read: of hundreds of concurrent requests, only those that fit the budget
   * prepare theirs. Throws RATE_LIMITED if too much is unread.
   * @param bytes the size, if known
   */
  expect(request: FastifyRequest, { raw }: FastifyReply, bytes = this.unknownBytes): void {
    this.reserve(this.ownerOf(request), raw, bytes);
  }

  /** Counts a response from now until it is read. Throws if too much is unread already. */
  send(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    const { raw } = reply;
    this.reserve(this.ownerOf(request), raw, bytes > UNCOUNTED_BYTES ? bytes : 0);
    // Ends the connection: a pipelined response has no socket yet, and Node reports no end before its turn.
    const tooSlow = longTimeout(
      () => raw.req.socket.destroy(),
      this.config.answerMs + (bytes / BYTES_PER_SECOND) * 1000,
    );
    onResponseClosed(raw, () => clearTimeout(tooSlow));
  }

  /** The size that a response of unknown size counts as. */
  private get unknownBytes(): number {
    return Math.min(this.config.maxFileBytes, this.config.maxUnreadBytes / PART_OF_FILE);
  }

  /** Holds so many bytes until the response is closed, instead of what it held before. */
  private reserve(owner: string, response: ServerResponse, bytes: number): void {
    const reservation = this.reservations.get(response) ?? this.budget.open(owner);
    this.refuseExcess(owner, reservation.resize(bytes));
    this.reservations.set(response, reservation);
    onResponseClosed(response, () => reservation.release());
  }

  private ownerOf(request: FastifyRequest): string {
    return this.addresses.ownerOf(request.raw, (request as AccessedRequest).access?.user?.id);
  }

  private refuseExcess(owner: string, excess: Excess | null): void {
    if (excess === null) return;
    const extras = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    if (excess === 'all' || this.budget.heldBy(owner) === 0)
      throw new DomainError('UNAVAILABLE', 'Too many answers wait to be read; try again in a moment', extras);
    const message = 'Too many of your answers were not read yet; read those first, or ask for fewer at once';
    throw new DomainError('RATE_LIMITED', message, extras);
  }
}
