/**
 * The protocol's version. `test/protocol/version-pin.test.ts` knows the hash of every wire schema beside this number:
 * a changed shape that keeps the number fails there, so old clients cannot be broken by accident.
 */
export const PROTOCOL_VERSION = 1;
export const SUBPROTOCOL = "holdpoint.v1";
/** Version stamped on every persisted event; older ones are upcast in `storage/`. */
export const EVENT_VERSION = 1;
