/** What was written is not there any more: a hole in the log, a payload without its row. Never shown as "not found". */
export class StorageLostError extends Error {
  override readonly name = "StorageLostError";
  readonly code = "storage_lost";
}
