import { saidIn, type CommonScript } from "./script.ts";

const list = (prompts: readonly string[]): string => prompts.map((prompt) => `- ${prompt}`).join("\n");

const WHO = ["the lamplighter", "the old pilot", "a gardener", "the night nurse", "a retired clockmaker"];
const WHERE = ["by the harbour", "under the railway bridge", "in the empty market", "at the edge of the orchard"];
const DID = [
  "waited for the tide and counted the boats",
  "wrote down every sound and the hour of it",
  "found a door that had been painted over twice",
  "asked the same question and got another answer",
  "folded the map the wrong way and was right",
  "kept one promise and forgot another",
  "heard the bells stop before the hour was full",
];

export const COMMON_EN: CommonScript = {
  greeting: /^(?:hi|hello|hey|good (?:morning|afternoon|evening)|help|what can you do)\b/iu,
  story: /\blong story\b|\btell me a story\b/iu,
  welcome: (prompts) =>
    `Hello! I am a rehearsal: a scripted model, so I only know a few sentences by heart. Try one of these:\n${list(prompts)}`,
  unknown: (said, prompts) =>
    `You said: "${said}". I am only a scripted model and do not know that one. I know these:\n${list(prompts)}`,
  backAgain: "Thank you, I am back. What shall I do next?",
  tale: () =>
    Array.from({ length: 70 }, (_, night) => {
      const who = WHO[night % WHO.length];
      const where = WHERE[night % WHERE.length];
      return `On night ${night + 1}, ${where}, ${who} ${DID[(night * 3) % DID.length]}.`;
    }).join(" "),
  failed: ({ code, message }, what) => {
    switch (code) {
      case "rejected":
        return `I have not done it: ${what} was rejected${saidIn(message, ": ")}.`;
      case "expired":
        return `I have not done it: nobody decided on ${what} in time.`;
      case "cancelled":
        return `I have not done it: ${what} was cancelled.`;
      case "outcome_unknown":
        return `I cannot say whether ${what} happened. It may or may not have, so I will not try it again; please check.`;
      case "scope_missing":
        return `I may not do that here: ${what} needs a right that your sign-in does not have.`;
      default:
        return `That did not work: ${what} failed (${code}). ${message}`;
    }
  },
  notOffered: (tool) => `I cannot do that here: your sign-in does not give me the tool ${tool}.`,
};
