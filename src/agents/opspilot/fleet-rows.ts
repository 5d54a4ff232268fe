/** Rows of the fleet's tables, checked where they enter. */
import * as z from "zod";

export const ServiceRow = z
  .object({ id: z.string(), created_at: z.int(), boot: z.int(), started_at: z.int() })
  .transform(({ created_at: createdAt, started_at: startedAt, ...row }) => ({ ...row, createdAt, startedAt }));

export const SettingRow = z
  .object({ service_id: z.string(), name: z.string(), value: z.int(), version: z.int(), changed_at: z.int() })
  .transform(({ service_id: serviceId, changed_at: changedAt, ...row }) => ({ ...row, serviceId, changedAt }));

export const RestartRow = z
  .object({ service_id: z.string(), boot: z.int(), started_at: z.int() })
  .transform(({ service_id: serviceId, boot, started_at: startedAt }) => ({ serviceId, boot, startedAt }));

export const SettingChangeRow = z
  .object({
    service_id: z.string(),
    name: z.string(),
    before_value: z.int(),
    after_value: z.int(),
    changed_at: z.int(),
  })
  .transform(({ service_id, name, before_value, after_value, changed_at }) => ({
    serviceId: service_id,
    name,
    before: before_value,
    after: after_value,
    changedAt: changed_at,
  }));

export const ActBoot = z.object({ boot: z.int() });

export const ChangedRow = z
  .object({ before_value: z.int(), after_value: z.int(), version: z.int() })
  .transform(({ before_value: before, after_value: after, version }) => ({ before, after, version }));

export const IncidentRow = z
  .object({
    number: z.int(),
    service_id: z.string(),
    severity: z.string(),
    title: z.string(),
    opened_at: z.int(),
  })
  .transform(({ service_id: serviceId, opened_at: openedAt, ...row }) => ({ ...row, serviceId, openedAt }));
