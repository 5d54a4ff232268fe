/** The service's own route, page by page and object by object, until each object says that its history is whole. */
import { Restored, RESTORE_OBJECTS, type HistoryAccount, type RestoreMode } from "../../src/protocol/restore.ts";

export interface Ordering {
  readonly baseUrl: string;
  readonly token: string;
  readonly reason: string;
}

type Account = HistoryAccount | { readonly kind: "unreachable" };
export type Accounts = ReadonlyMap<string, Account>;

/** Without getting any further; a log is then left to whoever looks into it. */
const ROUNDS = 3;

/** @param listed ids beside those that the history names */
export async function rebuild(
  ordering: Ordering,
  mode: RestoreMode,
  listed: readonly string[],
  progress: (accounts: Accounts) => void = () => undefined,
): Promise<Accounts> {
  const accounts = new Map<string, Account>();
  const take = ({ data }: Restored) => {
    for (const { objectId, account } of data) accounts.set(objectId, account);
    progress(accounts);
  };
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Restored = await order(ordering, { mode, ...(cursor === "" ? {} : { cursor }) });
    take(page);
    cursor = page.nextCursor;
  }
  for (const objectIds of inPages(listed.filter((id) => !accounts.has(id)))) {
    take(await order(ordering, { mode, objectIds }));
  }
  if (mode === "look") return accounts;
  for (let rounds = 0; rounds < ROUNDS;) {
    const before = new Map(accounts);
    const open = [...accounts].flatMap(([id, account]) => (isDone(account) ? [] : [id]));
    if (open.length === 0) break;
    // What was taken away has been: from now on only what is lacking comes.
    for (const objectIds of inPages(open)) take(await order(ordering, { mode: "bring", objectIds }));
    rounds = open.some((id) => stands(accounts.get(id)) > stands(before.get(id))) ? 0 : rounds + 1;
  }
  return accounts;
}

export function isDone(account: Account): boolean {
  if (account.kind === "conversation") return account.stands >= account.head;
  return account.kind !== "unreachable";
}

const stands = (account: Account | undefined): number => (account?.kind === "conversation" ? account.stands : 0);

function inPages(ids: readonly string[]): string[][] {
  const pages = Math.ceil(ids.length / RESTORE_OBJECTS);
  return Array.from({ length: pages }, (_, n) => ids.slice(n * RESTORE_OBJECTS, (n + 1) * RESTORE_OBJECTS));
}

async function order({ baseUrl, token, reason }: Ordering, body: object): Promise<Restored> {
  const response = await fetch(`${baseUrl}/v1/admin/history/restore`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "x-audit-reason": encodeURIComponent(reason),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the order was refused: ${response.status} ${text.slice(0, 500)}`);
  return Restored.parse(JSON.parse(text));
}
