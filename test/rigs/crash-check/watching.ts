/** X4 and X5: what watchers were shown, against the log. */
import { conversation, eventOf, found, isLive, liveFrames, rewritten, type Wrong } from "./recording.ts";

export const WRONG_WATCHING: readonly Wrong[] = [
  [
    "X4",
    "a watcher was shown other bytes",
    (seed) => {
      const frames = liveFrames(conversation(seed, 0));
      const at = frames.findIndex(isLive);
      frames[at] = found(frames[at], "frame").replace('"v":1', '"v":1,"more":true');
    },
  ],
  [
    "X4",
    "a watcher saw what is not durable",
    (seed) => {
      const one = conversation(seed, 0);
      one.seen.log.length -= 5;
      rewritten(one);
    },
  ],
  [
    "X4",
    "a viewer was shown the whole",
    (seed) => {
      const one = conversation(seed, 0);
      const shown = found(
        one.connections.find(({ user }) => user === one.approver),
        "approver's connection",
      );
      shown.user = one.viewer;
    },
  ],
  [
    "X4",
    "a preview of what nobody wrote",
    (seed) => {
      const one = conversation(seed, 0);
      const { messageId, attempt } = eventOf(one, "step.started").data;
      const delta = { type: "delta", messageId, attempt, part: 0, offset: 0, text: "something else" };
      found(one.connections[0], "connection").frames.push(JSON.stringify(delta));
    },
  ],
  [
    "X5",
    "an event did not come",
    (seed) => {
      const frames = liveFrames(conversation(seed, 0));
      frames.splice(frames.findIndex(isLive) + 1, 1);
    },
  ],
  [
    "X5",
    "an event came twice",
    (seed) => {
      const frames = liveFrames(conversation(seed, 0));
      const at = frames.findIndex(isLive);
      frames.splice(at, 0, found(frames[at], "frame"));
    },
  ],
  [
    "X5",
    "the client met a gap",
    (seed) => {
      found(conversation(seed, 1).followed[0], "client").gaps = 1;
    },
  ],
  [
    "X5",
    "the client has less than the log",
    (seed) => {
      found(conversation(seed, 1).followed[0], "client").events.pop();
    },
  ],
  [
    "X5",
    "a watcher was reset without need",
    (seed) => {
      const one = conversation(seed, 0);
      const reset = { type: "reset", reason: "too_far_behind", headCursor: `${one.generation}.3`, snapshot: {} };
      found(one.connections[0], "connection").frames.splice(1, 0, JSON.stringify(reset));
    },
  ],
];
