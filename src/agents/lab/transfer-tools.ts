/** What the lab can do to the world: the same transfer under each of the effect classes, and a note that never asks. */
import * as z from "zod";
import { langOf } from "../../protocol/texts.ts";
import { badResponse } from "../../tools/call-json.ts";
import { defineTool, type Call, type Execution, type Probe } from "../../tools/define-tool.ts";
import { ask, outcomeOf, type LabDeps } from "./lab-backend.ts";

const Input = z.object({
  recipient_id: z.string().min(1).max(200),
  amount_cents: z.int().positive().max(1_000_000_000),
});
type Transfer = z.infer<typeof Input>;
const Booked = z.object({
  transfer_id: z.string(),
  recipient_id: z.string(),
  amount_cents: z.int(),
  status: z.string(),
});
type Booked = z.infer<typeof Booked>;

const common = {
  input: Input,
  output: Booked,
  scope: "lab:transfer",
  reversible: false,
  // Any user with the scope may transfer; the backend knows the caller by the sign-in.
  authorize: () => ({ ok: true }) as const,
  preview: ({ recipient_id, amount_cents }: Transfer, { ctx }: Call<LabDeps>) => {
    const zh = langOf(ctx.locale) === "zh";
    return {
      rows: [
        { label: zh ? "收款人" : "Recipient", value: recipient_id },
        { label: zh ? "金额（分）" : "Amount in cents", value: String(amount_cents) },
      ],
    };
  },
  execute: async ({ recipient_id, amount_cents }: Transfer, call: Execution<LabDeps>) =>
    outcomeOf(Booked, await ask("POST", "/transfer", call, { recipient_id, amount_cents })),
  display: ({ amount_cents, recipient_id }: Booked, lang: "en" | "zh") =>
    lang === "zh"
      ? `已向 ${recipient_id} 转账 ${amount_cents} 分。`
      : `Transferred ${amount_cents} cents to ${recipient_id}.`,
} as const;

export const transfer = defineTool({
  ...common,
  name: "transfer",
  title: { en: "Transfer", zh: "转账" },
  description: "Transfers money. Must not be sent twice.",
  effect: "once",
});

export const transferIdempotent = defineTool({
  ...common,
  name: "transfer_idempotent",
  title: { en: "Transfer (idempotent)", zh: "转账（幂等）" },
  description: "Transfers money; the backend books one key once.",
  effect: "idempotent",
});

export const transferProbeable = defineTool({
  ...common,
  name: "transfer_probeable",
  title: { en: "Transfer (probeable)", zh: "转账（可查询）" },
  description: "Transfers money; the backend can be asked whether it did.",
  effect: "probeable",
  probe: async (key: string, _args: Transfer, call: Call<LabDeps>): Promise<Probe<Booked>> => {
    const answer = await ask("GET", `/transfer?key=${encodeURIComponent(key)}`, call);
    const outcome = outcomeOf(Booked, answer);
    if (outcome.kind === "ok") return { found: true, outcome };
    // Only this word says that it never arrived; any other refusal to answer says nothing.
    if (outcome.error.code === "NOT_BOOKED") return { found: false };
    throw badResponse("The backend did not say whether it was booked.", outcome.error.http);
  },
});

/** What one person alone may not do: two treasurers agree, neither of whom is the one who asks, and soon. */
export const transferByTwo = defineTool({
  ...common,
  name: "transfer_by_two",
  title: { en: "Transfer (two people)", zh: "转账（双人）" },
  description: "Transfers money; two treasurers must agree.",
  effect: "once",
  quorum: 2,
  selfApproval: false,
  approvers: ["treasurer"],
  expiresInMs: 15 * 60_000,
});

export const bookNote = defineTool({
  name: "book_note",
  title: { en: "Book a note", zh: "记一笔" },
  description: "Books a note, without asking.",
  effect: "once",
  confirm: "never",
  reversible: false,
  input: z.object({ text: z.string().min(1).max(2_000) }),
  output: Booked,
  authorize: () => ({ ok: true }),
  execute: async ({ text }, call: Execution<LabDeps>) =>
    outcomeOf(Booked, await ask("POST", "/transfer", call, { recipient_id: "notes", amount_cents: 1, note: text })),
});
