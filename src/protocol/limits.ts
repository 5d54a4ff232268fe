/**
 * Every bound of the service in one place: defaults, units in the name. Adapters read them from here and nowhere else;
 * a bound that is configurable takes its default from here (`edge/settings`).
 */

/** What a run may use. The member names are the same in runs, agents, metadata, `limit.tripped` and configuration. */
export const RUN_LIMITS = {
  maxSteps: 25,
  maxToolErrors: 3,
  maxSameFailure: 2,
  maxRunTokens: 400_000,
  maxConversationTokens: 4_000_000,
  maxRunMs: 15 * 60_000,
  maxToolMs: 60_000,
  maxFirstByteMs: 30_000,
  maxIdleMs: 30_000,
  maxModelMs: 5 * 60_000,
} as const;

export const LIMITS = {
  /** REST bodies (attachments have their own bound). */
  bodyBytes: 256 * 1024,
  textChars: 32 * 1024,
  frameBytes: 64 * 1024,
  jsonDepth: 32,
  jsonKeys: 1_000,
  titleChars: 200,
  reasonChars: 1_000,
  metadataEntries: 16,
  metadataKeyChars: 64,
  metadataValueChars: 2_048,
  metadataBytes: 8 * 1024,
  sideEffectsListed: 200,
  idempotencyKeyChars: 255,
  attachmentsPerMessage: 8,
  participants: 100,
  decisionsPerRequest: 64,
  queuedRuns: 20,
  callsPerStep: 32,
  argsBytes: 64 * 1024,
  toolResultBytes: 256 * 1024,
  /** What the model is told of one tool result; the stored payload may be longer. */
  toolResultModelChars: 64 * 1024,
  eventBytes: 64 * 1024,
  payloadInlineBytes: 16 * 1024,
  excerptChars: 2_048,
  conversationEvents: 100_000,
  conversationBytes: 100 * 1024 * 1024,
  page: 50,
  pageMax: 200,
  catchUpEvents: 1_000,
  catchUpBytes: 1024 * 1024,
  socketsPerUser: 10,
  socketsPerConversation: 200,
  /** Watchers that do not read: above the first, previews are dropped; above the second the socket is closed. */
  slowDropBytes: 1024 * 1024,
  slowCloseBytes: 4 * 1024 * 1024,
  slowCloseMs: 10_000,
  /** What a conversation's watchers may be behind together: in a crowd each one's share, and four times it, are the bounds. */
  slowCrowdBytes: 32 * 1024 * 1024,
  checkpointMs: 1_000,
  checkpointBytes: 16 * 1024,
  tokenBytes: 8 * 1024,
  answerChars: 512 * 1024,
  sseLineBytes: 256 * 1024,
  streamBytes: 10 * 1024 * 1024,
  snapshotPending: 64,
} as const;

export const DURATIONS = {
  confirmationMs: 24 * 3_600_000,
  continuationMs: 24 * 3_600_000,
  budgetWaitMs: 24 * 3_600_000,
  cancelGraceMs: 10_000,
  watchdogMs: 30_000,
  dedupeWindowMs: 24 * 3_600_000,
  backoffMs: 1_000,
  /** From an event that the history should learn to its projection, in a living object. A quick talker's runs share it. */
  projectionMs: 1_000,
  ticketMs: 30_000,
  /** Working out what a call will do, per call: authorising and preview together. */
  previewMs: 10_000,
  /** How long an aborted tool may still say what it did. */
  abortSettleMs: 250,
  /** How long what is known of a sign-in's standing is believed; a change is answered after that. */
  standingLeaseMs: 1_000,
  /** How old it may be for somebody who only watches. */
  watchersCheckedMs: 2_000,
} as const;

/** How often a thing may be tried in all, first time included. */
export const ATTEMPTS = {
  modelSupersessions: 2,
  read: 3,
  repeatsOrProbes: 3,
  emptyAnswers: 1,
  modelRetriesMax: 2,
} as const;

/** How often. The edge's own limits per user and tenant are bindings of the platform: `wrangler.toml`. */
export const RATES = {
  commandBurst: 1_000,
  commandsPerMinute: 1_200,
} as const;

export const PARALLEL_READS = 4;
