import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';
import type { AccessedRequest } from '../common/access.js';
import { DomainError } from '../common/domain-error.js';
import { Budget } from './budget.js';
import { longTimeout } from '../common/timers.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { onceOver } from '../common/http/once-over.js';

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
  /** What answers count for that are being put together. */
  private readonly expected = new WeakMap<ServerResponse, number>();

  constructor(private readonly config: Config) {
    this.addresses = new ClientAddresses(config.trustedProxies);
    this.budget = new Budget(config.maxUnreadBytes, SMALL_BYTES);
  }

  /** Bytes that wait to be read, of everybody. */
  get held(): number {
    return this.budget.held;
  }

  /** Throws where so much waits for the caller to read it that a file more would be too much: before it is put together. */
  check(request: FastifyRequest): void {
    const owner = this.ownerOf(request);
    if (this.budget.heldBy(owner) > 0) this.checkRoom(owner, this.unknownBytes);
  }

  /**
   * Counts an answer from before its bytes are read: of hundreds that are asked for at once only those are put together
   * that may wait for their reader. Throws where too much waits already.
   *
   * @param bytes that it will have, where that is known
   */
  expect(request: FastifyRequest, { raw }: FastifyReply, bytes = this.unknownBytes): void {
    const owner = this.ownerOf(request);
    this.checkRoom(owner, bytes);
    this.expected.set(raw, bytes);
    this.hold(owner, bytes, raw);
  }

  /** Counts an answer that is about to be sent until it was read. Throws where too much of that is waiting already. */
  send(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    const { raw } = reply;
    const owner = this.ownerOf(request);
    const counted = bytes > UNCOUNTED_BYTES ? bytes : 0;
    const before = this.expected.get(raw) ?? 0;
    if (counted > before) this.checkRoom(owner, counted - before, before);
    this.hold(owner, counted - before, raw);
    // The connection, since an answer in line has none yet, and while much is in line Node hears of no end.
    const tooSlow = longTimeout(
      () => raw.req.socket.destroy(),
      this.config.answerMs + (bytes / BYTES_A_SECOND) * 1000,
    );
    onceOver(raw, () => clearTimeout(tooSlow));
  }

  /** Of an answer whose size is not known yet. */
  private get unknownBytes(): number {
    return Math.min(this.config.maxFileBytes, this.config.maxUnreadBytes / PART_OF_FILE);
  }

  private hold(owner: string, bytes: number, until: ServerResponse): void {
    this.budget.change(owner, bytes);
    onceOver(until, () => this.budget.change(owner, -bytes));
  }

  private ownerOf(request: FastifyRequest): string {
    return this.addresses.ownerOf(request.raw, (request as AccessedRequest).access?.user?.id);
  }

  private checkRoom(owner: string, bytes: number, before = 0): void {
    const excess = this.budget.excess(owner, bytes, before);
    if (excess === null) return;
    const extras = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    if (excess === 'all' || this.budget.heldBy(owner) === 0)
      throw new DomainError('UNAVAILABLE', 'Too many answers wait to be read; try again in a moment', extras);
    const message = 'Too many of your answers were not read yet; read those first, or ask for fewer at once';
    throw new DomainError('RATE_LIMITED', message, extras);
  }
}
