/** An incident as the tools give it. */
import * as z from "zod";
import { isoOf } from "../../protocol/time.ts";
import type { StoredIncident } from "./fleet-store.ts";

export const Severity = z.enum(["low", "high", "critical"]);
export type Severity = z.infer<typeof Severity>;

export const Incident = z.object({
  id: z.string(),
  serviceId: z.string(),
  severity: Severity,
  title: z.string(),
  openedAt: z.string(),
});
export type Incident = z.infer<typeof Incident>;

export const incidentView = ({ number, serviceId, severity, title, openedAt }: StoredIncident): Incident => ({
  id: `INC-${number}`,
  serviceId,
  severity: Severity.parse(severity),
  title,
  openedAt: isoOf(openedAt),
});
