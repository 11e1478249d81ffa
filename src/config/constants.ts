const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const KIB = 1024;
const MIB = 1024 * KIB;

/** Bounds that no operator needs to turn. They are fields of `Config` so that tests can lower them with `Config.with`. */
export const CONSTANTS = {
  /** How long a response may wait for its reader, ms, and a second more for each 64 KiB of it. */
  answerMs: 30 * SECOND,
  /** How long a request body may send nothing before the request ends, ms. */
  bodyIdleMs: 30 * SECOND,
  /** How long a client may take to send its journal when it connects, and to acknowledge a call; then its connection ends, ms. */
  acknowledgeMs: 10 * SECOND,
  /** How long a client may take to give a file, ms: a second more for each MiB, and 15 s at most. */
  fileReadMs: 5 * SECOND,
  /** Most that a turn may ask for, ms. */
  maxDeliveryMs: 24 * HOUR,
  maxApprovalMs: 24 * HOUR,
  maxExecutionMs: HOUR,
  /** How often a node looks in the store for commits of others of which nothing tells it, ms; half as often after 30 s without open turns. */
  lookMs: 250,
  maxPatchFiles: 10_000,
  /** Changes of one patch batch, in all of its files. */
  maxPatchChanges: 20_000,
  /** The texts that one patch batch is planned on, each file counted by itself, in bytes. */
  maxPatchBytes: 256 * MIB,
  /** Most that the context of a session may have, in bytes. */
  contextBytes: 64 * KIB,
  maxSessions: 2_000_000,
  maxUserSessions: 1_000_000,
  /** Result and error details of one call, as JSON, in bytes. */
  maxResultBytes: 4 * MIB,
  /** Results and error details of one turn, as JSON, in bytes. */
  maxTurnResultBytes: 16 * MIB,
  /** Requests of one user that wait for turns to end at once. */
  maxUserWaiting: 1000,
  /** Server tools of one user that run at once; the others wait for their turn. */
  maxUserServerCalls: 4,
  /** Results, and large arguments of open turns, that are on their way to one user at once, in bytes. */
  maxUserAnswerBytes: 64 * MIB,
  /** Heap of one worker thread, MiB. */
  workerMemoryMb: 256,
  /** Most that one job of a worker may take, ms. */
  jobMs: 5 * SECOND,
  /** Most that one glob or grep may take, ms. */
  searchMs: 5 * SECOND,
  /** Jobs of one user that wait for a worker. */
  maxUserWaitingJobs: 1000,
  /** Jobs that wait for a worker, in all; one user has an eighth of what others leave at most. */
  maxWaitingJobs: 8000,
};
