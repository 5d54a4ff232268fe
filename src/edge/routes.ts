/** Every route of the service, in one table. What is not here does not exist: neither in the app nor in its document. */
import { CONVERSATION_ROUTES } from "./conversation-routes.ts";
import { DEVELOPMENT_ROUTE } from "./development-route.ts";
import { EVENT_ROUTES } from "./event-routes.ts";
import { historyRoutes } from "./history-routes.ts";
import { LOG_ROUTES } from "./log-routes.ts";
import type { EdgePorts } from "./ports.ts";
import type { Route } from "./route.ts";
import { referenceRoutes } from "./reference/reference-routes.ts";
import { restoreRoute } from "./restore-route.ts";
import { RUN_ROUTES } from "./run-routes.ts";
import { agentsRoute, SERVICE_ROUTES } from "./service-routes.ts";
import { STREAM_ROUTE } from "./stream-route.ts";
import { tenantRoutes } from "./tenant-routes.ts";
import { TICKET_ROUTE } from "./ticket-route.ts";
import { usageRoute } from "./usage-route.ts";

export function routesOf({ settings, history, agents, tenants, restore }: EdgePorts): readonly Route[] {
  const table: readonly Route[] = [
    // Described by the table that they are part of, so they ask for it only when they are asked.
    ...referenceRoutes(() => table),
    ...SERVICE_ROUTES,
    ...(agents ? [agentsRoute(agents)] : []),
    ...CONVERSATION_ROUTES,
    ...(history ? [...historyRoutes(history), usageRoute(history)] : []),
    ...LOG_ROUTES,
    ...EVENT_ROUTES,
    TICKET_ROUTE,
    STREAM_ROUTE,
    ...RUN_ROUTES,
    ...(tenants ? tenantRoutes(tenants) : []),
    ...(restore ? [restoreRoute(restore)] : []),
    ...(settings.devSignIn ? [DEVELOPMENT_ROUTE] : []),
  ];
  return table;
}
