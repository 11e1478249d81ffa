const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const KIB = 1024;
const MIB = 1024 * KIB;

/** Bounds that no operator needs to change. As fields of `Config` they can be lowered by tests. */
export const CONSTANTS = {
  /** How long a response may wait for its reader, ms; plus one second per 64 KiB. */
  answerMs: 30 * SECOND,
  /** Maximum pause within a request body before the request ends, ms. */
  bodyIdleMs: 30 * SECOND,
  /** How long a client may take to send its journal on connecting, and to acknowledge a call, ms. */
  acknowledgeMs: 10 * SECOND,
  /** How long a client may take to send a file, ms; plus one second per MiB, 15 s at most. */
  fileReadMs: 5 * SECOND,
  /** Longest timeout that a turn may request, ms. */
  maxDeliveryMs: 24 * HOUR,
  maxApprovalMs: 24 * HOUR,
  maxExecutionMs: HOUR,
  /** Interval at which a node polls the store for commits of other nodes, ms; doubled after 30 s without open turns. */
  lookMs: 250,
  maxPatchFiles: 10_000,
  /** Changes of one patch batch, over all of its files. */
  maxPatchChanges: 20_000,
  /** Total size of the texts that one patch batch is planned on, bytes; each file counts separately. */
  maxPatchBytes: 256 * MIB,
  /** Size of a session's context, bytes. */
  contextBytes: 64 * KIB,
  maxSessions: 2_000_000,
  maxUserSessions: 1_000_000,
  /** Result and error details of one call, as JSON, bytes. */
  maxResultBytes: 4 * MIB,
  /** Results and error details of one turn, as JSON, bytes. */
  maxTurnResultBytes: 16 * MIB,
  /** Concurrent requests of one user that wait for turns to end. */
  maxUserWaiting: 1000,
  /** Concurrent server tools of one user; further ones are queued. */
  maxUserServerCalls: 4,
  /** Results, and large arguments of open turns, that are being sent to one user, bytes. */
  maxUserAnswerBytes: 64 * MIB,
  /** Heap of one worker thread, MiB. */
  workerMemoryMb: 256,
  /** Time limit of one job on a worker, ms. */
  jobMs: 5 * SECOND,
  /** Time limit of one glob or grep, ms. */
  searchMs: 5 * SECOND,
  /** Queued jobs of one user. */
  maxUserWaitingJobs: 1000,
  /** Queued jobs in total; one user may hold at most an eighth of the unused budget. */
  maxWaitingJobs: 8000,
};
