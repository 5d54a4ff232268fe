/** The bounds that a caller meets, for both READMEs: the words are here, the figures are protocol/limits.ts's. */
import { LIMITS, RATES } from "../../src/protocol/limits.ts";
import type { Words } from "./features.ts";

export interface Bound {
  readonly what: Words;
  readonly value: string | Words;
}

const bytes = (count: number): string =>
  count % 2 ** 20 === 0 ? `${count / 2 ** 20} MiB` : count % 1_024 === 0 ? `${count / 1_024} KiB` : `${count} B`;
const count = (value: number): string => value.toLocaleString("en-US");
const chars = (value: number): Words => ({ en: `${count(value)} UTF-16 units`, zh: `${count(value)} 个 UTF-16 单元` });

export const BOUNDS: readonly Bound[] = [
  { what: { en: "A request's body", zh: "请求体" }, value: bytes(LIMITS.bodyBytes) },
  { what: { en: "A WebSocket frame from a client", zh: "客户端 WebSocket 帧" }, value: bytes(LIMITS.frameBytes) },
  { what: { en: "A message's text", zh: "一条消息的文本" }, value: bytes(LIMITS.textChars) },
  { what: { en: "A title", zh: "标题" }, value: chars(LIMITS.titleChars) },
  {
    what: { en: "An idempotency key", zh: "幂等键" },
    value: {
      en: `${LIMITS.idempotencyKeyChars} visible ASCII characters`,
      zh: `${LIMITS.idempotencyKeyChars} 个可见 ASCII 字符`,
    },
  },
  {
    what: { en: "Entries of metadata, all of them as JSON", zh: "metadata 条目数，合计 JSON" },
    value: `${LIMITS.metadataEntries}, ${bytes(LIMITS.metadataBytes)}`,
  },
  { what: { en: "Participants of a conversation", zh: "会话参与者" }, value: count(LIMITS.participants) },
  { what: { en: "Runs that wait in a conversation", zh: "会话中排队的运行" }, value: count(LIMITS.queuedRuns) },
  {
    what: { en: "Tool calls in one answer of the model", zh: "模型一次回答中的工具调用" },
    value: count(LIMITS.callsPerStep),
  },
  { what: { en: "Arguments of one call", zh: "一次调用的参数" }, value: bytes(LIMITS.argsBytes) },
  { what: { en: "Result of one call that is kept", zh: "一次调用保留的结果" }, value: bytes(LIMITS.toolResultBytes) },
  {
    what: { en: "Of it, told to the model", zh: "其中告诉模型的部分" },
    value: chars(LIMITS.toolResultModelChars),
  },
  {
    what: { en: "A conversation's log", zh: "会话日志" },
    value: {
      en: `${count(LIMITS.conversationEvents)} events or ${bytes(LIMITS.conversationBytes)}`,
      zh: `${count(LIMITS.conversationEvents)} 个事件或 ${bytes(LIMITS.conversationBytes)}`,
    },
  },
  {
    what: { en: "A page of a list", zh: "列表的一页" },
    value: { en: `${LIMITS.page}, at most ${LIMITS.pageMax}`, zh: `默认 ${LIMITS.page}，最多 ${LIMITS.pageMax}` },
  },
  {
    what: { en: "Commands of a person in a conversation", zh: "每人在一个会话中的命令" },
    value: {
      en: `${count(RATES.commandBurst)} at once, ${count(RATES.commandsPerMinute)} a minute`,
      zh: `一次 ${count(RATES.commandBurst)} 条，每分钟 ${count(RATES.commandsPerMinute)} 条`,
    },
  },
  {
    what: { en: "Sockets of a person, of a conversation", zh: "每人、每会话的连接数" },
    value: `${LIMITS.socketsPerUser}, ${LIMITS.socketsPerConversation}`,
  },
  {
    what: { en: "Catching up on one connection", zh: "单次连接的补发量" },
    value: {
      en: `${count(LIMITS.catchUpEvents)} events and ${bytes(LIMITS.catchUpBytes)}, beyond that a snapshot`,
      zh: `${count(LIMITS.catchUpEvents)} 个事件且 ${bytes(LIMITS.catchUpBytes)}，超出则发快照`,
    },
  },
  {
    what: { en: "A watcher that does not read: previews dropped, then closed", zh: "不读取的观察者：先丢预览，再断开" },
    value: {
      en: `${bytes(LIMITS.slowDropBytes)}, then ${bytes(LIMITS.slowCloseBytes)} or ${LIMITS.slowCloseMs / 1_000} s`,
      zh: `${bytes(LIMITS.slowDropBytes)}，再 ${bytes(LIMITS.slowCloseBytes)} 或 ${LIMITS.slowCloseMs / 1_000} 秒`,
    },
  },
];
