/**
 * What services a tenant has, as a constant: how big, how fast, on whom they depend, what can be set. What has happened
 * to them is stored; how they do follows from both and from the time. `checkout` comes with a bad setting, so that there
 * is something to find.
 */

export interface SettingSpec {
  readonly name: string;
  readonly unit: string;
  readonly initial: number;
  readonly recommended: number;
  readonly min: number;
  readonly max: number;
}

export interface ServiceSpec {
  readonly id: string;
  readonly title: { readonly en: string; readonly zh: string };
  readonly baseMb: number;
  readonly limitMb: number;
  /** How fast its cache fills; a cache without a bound ends at the memory's limit. */
  readonly fillMbPerMinute: number;
  /** Names the setting that bounds the cache, in MB; 0 there means no bound. */
  readonly cacheSetting?: string;
  readonly latencyMs: number;
  readonly requestsPerMinute: number;
  readonly dependsOn: readonly string[];
  readonly settings: readonly SettingSpec[];
  /** How long it had been running when the fleet was first looked at. */
  readonly ageMs: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const cache = (initial: number, recommended: number): SettingSpec => ({
  name: "cache_max_mb",
  unit: "MB",
  initial,
  recommended,
  min: 0,
  max: 1_024,
});

export const FLEET: readonly ServiceSpec[] = [
  {
    id: "web",
    title: { en: "Storefront", zh: "店面" },
    baseMb: 210,
    limitMb: 512,
    fillMbPerMinute: 0,
    latencyMs: 85,
    requestsPerMinute: 900,
    dependsOn: ["checkout", "search"],
    settings: [{ name: "max_connections", unit: "", initial: 400, recommended: 400, min: 50, max: 2_000 }],
    ageMs: 9 * HOUR,
  },
  {
    id: "checkout",
    title: { en: "Checkout", zh: "结账" },
    baseMb: 180,
    limitMb: 512,
    fillMbPerMinute: 28,
    cacheSetting: "cache_max_mb",
    latencyMs: 120,
    requestsPerMinute: 140,
    dependsOn: [],
    settings: [
      cache(0, 128),
      { name: "timeout_ms", unit: "ms", initial: 2_000, recommended: 2_000, min: 100, max: 30_000 },
    ],
    ageMs: 31 * MINUTE,
  },
  {
    id: "search",
    title: { en: "Search", zh: "搜索" },
    baseMb: 260,
    limitMb: 768,
    fillMbPerMinute: 20,
    cacheSetting: "cache_max_mb",
    latencyMs: 60,
    requestsPerMinute: 420,
    dependsOn: [],
    settings: [cache(256, 256)],
    ageMs: 76 * HOUR,
  },
  {
    id: "mailer",
    title: { en: "Mailer", zh: "邮件" },
    baseMb: 90,
    limitMb: 256,
    fillMbPerMinute: 0,
    latencyMs: 240,
    requestsPerMinute: 35,
    dependsOn: [],
    settings: [{ name: "batch_size", unit: "", initial: 100, recommended: 100, min: 1, max: 1_000 }],
    ageMs: 20 * HOUR,
  },
];

const BY_ID: ReadonlyMap<string, ServiceSpec> = new Map(FLEET.map((spec) => [spec.id, spec]));

/** Names come from models: looked up in a Map, so that `constructor` names no service. */
export const specOf = (id: string): ServiceSpec | undefined => BY_ID.get(id);
export const settingOf = (spec: ServiceSpec, name: string): SettingSpec | undefined =>
  spec.settings.find((setting) => setting.name === name);
