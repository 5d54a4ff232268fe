/** The service and its databases as processes, for a measurement: ready in a fraction of a second, killed hard. */
import { join } from "node:path";
import { freePort } from "../../scripts/service.ts";
import { startChild, type Child } from "../measure/child.ts";
import { runtimeBinary } from "../measure/runtime.ts";
import { writeConfig } from "./config.ts";

export interface ServiceOptions {
  readonly port: number;
  readonly dataDir: string;
  readonly bundleDir: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly log?: string | undefined;
}

export class OursService {
  readonly #options: ServiceOptions;
  readonly #database: Child;
  readonly #config: string;
  #runtime: Child;

  private constructor(options: ServiceOptions, database: Child, config: string, runtime: Child) {
    this.#options = options;
    this.#database = database;
    this.#config = config;
    this.#runtime = runtime;
  }

  static async start(options: ServiceOptions): Promise<OursService> {
    const { dataDir, log } = options;
    const databasePort = await freePort();
    const database = await startChild({
      command: process.execPath,
      args: [join(import.meta.dirname, "database.ts"), String(databasePort), join(dataDir, "d1")],
      port: databasePort,
      log,
    });
    const config = writeConfig({ ...options, databasePort });
    return new OursService(options, database, config, await boot(options, config));
  }

  get pid(): number {
    return this.#runtime.pid;
  }

  get databasePid(): number {
    return this.#database.pid;
  }

  databaseFile(binding: string): string {
    return join(this.#options.dataDir, "d1", `${binding}.sqlite`);
  }

  /** Its databases are other services, and stay up. */
  async restart(): Promise<void> {
    await this.#runtime.end("SIGKILL");
    this.#runtime = await boot(this.#options, this.#config);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#runtime.end("SIGKILL"), this.#database.end("SIGKILL")]);
  }
}

const boot = ({ port, log }: ServiceOptions, config: string): Promise<Child> =>
  startChild({ command: runtimeBinary(), args: ["serve", "--experimental", config], port, log });
