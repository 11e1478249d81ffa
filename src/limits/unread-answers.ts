import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';
import type { AccessedRequest } from '../common/access.js';
import { DomainError } from '../common/domain-error.js';
import { Budget, type ByteReservation, type Excess } from './budget.js';
import { longTimeout } from '../common/timers.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { onResponseClosed } from '../common/http/response-closed.js';

/** Whoever reads slower than this is not reading. */
const BYTES_A_SECOND = 64 * 1024;
/** What the system takes at once costs us nothing to speak of, and is not counted. */
const UNCOUNTED_BYTES = 1024;
/** Such an answer is sent however much others leave unread. */
const SMALL_BYTES = 64 * 1024;
/** An answer whose size is not known yet counts as this part of all, where a file may be larger. */
const PART_OF_FILE = 16;
const RETRY_AFTER_SECONDS = 5;

/** Bounds answers that wait for their readers: how long each may, and how many bytes there are of them. */
export class UnreadAnswers {
  private readonly addresses: ClientAddresses;
  private readonly budget: Budget;
  /** What answers hold that are being put together, or wait to be read. */
  private readonly reservations = new WeakMap<ServerResponse, ByteReservation>();

  constructor(private readonly config: Config) {
    this.addresses = new ClientAddresses(config.trustedProxies);
    this.budget = new Budget({ bytes: config.maxUnreadBytes, smallBytes: SMALL_BYTES });
  }

  /** Bytes that wait to be read, of everybody. */
  get held(): number {
    return this.budget.held;
  }

  /** Throws where so much waits for the caller to read it that a file more would be too much: before it is put together. */
  check(request: FastifyRequest): void {
    const owner = this.ownerOf(request);
    if (this.budget.heldBy(owner) > 0) this.require(owner, this.budget.excess(owner, this.unknownBytes));
  }

  /**
   * Counts an answer from before its bytes are read: of hundreds that are asked for at once only those are put together
   * that may wait for their reader. Throws where too much waits already.
   *
   * @param bytes that it will have, where that is known
   */
  expect(request: FastifyRequest, { raw }: FastifyReply, bytes = this.unknownBytes): void {
    this.reserve(this.ownerOf(request), raw, bytes);
  }

  /** Counts an answer that is about to be sent until it was read. Throws where too much of that is waiting already. */
  send(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    const { raw } = reply;
    this.reserve(this.ownerOf(request), raw, bytes > UNCOUNTED_BYTES ? bytes : 0);
    // The connection, since an answer in line has none yet, and while much is in line Node hears of no end.
    const tooSlow = longTimeout(
      () => raw.req.socket.destroy(),
      this.config.answerMs + (bytes / BYTES_A_SECOND) * 1000,
    );
    onResponseClosed(raw, () => clearTimeout(tooSlow));
  }

  /** Of an answer whose size is not known yet. */
  private get unknownBytes(): number {
    return Math.min(this.config.maxFileBytes, this.config.maxUnreadBytes / PART_OF_FILE);
  }

  /** The response holds so many bytes until it is over, in place of what it held before. */
  private reserve(owner: string, response: ServerResponse, bytes: number): void {
    const held = this.reservations.get(response) ?? this.budget.open(owner);
    this.require(owner, held.resize(bytes));
    this.reservations.set(response, held);
    onResponseClosed(response, () => held.release());
  }

  private ownerOf(request: FastifyRequest): string {
    return this.addresses.ownerOf(request.raw, (request as AccessedRequest).access?.user?.id);
  }

  private require(owner: string, excess: Excess | null): void {
    if (excess === null) return;
    const extras = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    if (excess === 'all' || this.budget.heldBy(owner) === 0)
      throw new DomainError('UNAVAILABLE', 'Too many answers wait to be read; try again in a moment', extras);
    const message = 'Too many of your answers were not read yet; read those first, or ask for fewer at once';
    throw new DomainError('RATE_LIMITED', message, extras);
  }
}
