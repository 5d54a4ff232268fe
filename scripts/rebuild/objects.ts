/** Ids of a deployment's conversation objects, from whoever keeps them: the platform, or a local folder. */
import { readdirSync } from "node:fs";
import { sep } from "node:path";

const API = "https://api.cloudflare.com/client/v4";
const PAGE = 1_000;
/** What the local runtime calls the folder of that class's databases. */
const FOLDER = /ConversationObject$/;

export function objectsInFolder(stateDir: string): string[] {
  const found = readdirSync(stateDir, { recursive: true, encoding: "utf8" }).flatMap((path) => {
    const parts = path.split(sep);
    const id = /^([0-9a-f]{64})\.sqlite$/.exec(parts.at(-1) ?? "")?.[1];
    return id !== undefined && FOLDER.test(parts.at(-2) ?? "") ? [id] : [];
  });
  return [...new Set(found)].toSorted();
}

export interface Namespace {
  readonly accountId: string;
  readonly namespaceId: string;
  readonly token: string;
}

interface Listed {
  readonly success: boolean;
  readonly errors?: readonly { readonly message: string }[];
  readonly result?: readonly { readonly id?: string; readonly hasStoredData?: boolean }[];
  readonly result_info?: { readonly cursor?: string; readonly cursors?: { readonly after?: string } };
}

/** Those that have stored something. @throws what the platform says, where it does not list */
export async function objectsOfNamespace(
  { accountId, namespaceId, token }: Namespace,
  request: typeof fetch = fetch,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor = "";
  do {
    const query = new URLSearchParams({ limit: String(PAGE), ...(cursor === "" ? {} : { cursor }) });
    const url = `${API}/accounts/${accountId}/workers/durable_objects/namespaces/${namespaceId}/objects?${query}`;
    const response = await request(url, { headers: { authorization: `Bearer ${token}` } });
    const listed = (await response.json()) as Listed;
    if (!response.ok || !listed.success) {
      throw new Error(`the platform lists nothing: ${listed.errors?.[0]?.message ?? response.status}`);
    }
    const stored = (listed.result ?? []).filter(({ hasStoredData }) => hasStoredData !== false);
    ids.push(...stored.flatMap(({ id }) => id ?? []));
    cursor = listed.result_info?.cursor ?? listed.result_info?.cursors?.after ?? "";
  } while (cursor !== "");
  return ids;
}
