import type { Feature } from '../core/feature.ts'
import { bootRoutes } from './boot/boot-page.ts'
import { browserRoutes } from './browser/browser-routes.ts'
import { compareAction, compareRoutes } from './compare/compare-routes.ts'
import { configurationPanel } from './configuration.ts'
import { exceptionPanel, exceptionRoutes } from './exceptions/exception-panel.ts'
import { explainRoutes } from './explain/explain-page.ts'
import { exportAction, exportRoutes } from './export/export-routes.ts'
import { eventRoutes, searchRoutes } from './home/search-page.ts'
import { httpClientPanel } from './http-client/http-client-panel.ts'
import { lifecyclePanel } from './lifecycle/lifecycle-panel.ts'
import { logsPanel } from './logs/logs-panel.ts'
import { performancePanel } from './performance/performance-panel.ts'
import { databasePanel } from './queries/database-panel.ts'
import { replayAction, replayRoutes } from './replay/replay-routes.ts'
import { requestPanel } from './request/request-panel.ts'
import { routingPanel } from './routing/routing-panel.ts'
import { cpuPanel, samplesRoutes } from './samples/cpu-panel.ts'
import { sampleIfAsked } from './samples/sampling.ts'

/** All features, in the order of the menu and of the header. The application's own panels come before the last. */
export const features: readonly Feature[] = [
  { name: 'home', routes: searchRoutes },
  { name: 'live', routes: eventRoutes },
  { name: 'request', panel: requestPanel },
  { name: 'performance', panel: performancePanel },
  { name: 'samples', panel: cpuPanel, routes: samplesRoutes, entered: request => sampleIfAsked(request) },
  { name: 'exceptions', panel: exceptionPanel, routes: exceptionRoutes },
  { name: 'logs', panel: logsPanel },
  { name: 'queries', panel: databasePanel },
  { name: 'explain', routes: explainRoutes },
  { name: 'http-client', panel: httpClientPanel },
  { name: 'routing', panel: routingPanel },
  { name: 'lifecycle', panel: lifecyclePanel },
  { name: 'compare', routes: compareRoutes, action: compareAction },
  { name: 'replay', routes: replayRoutes, action: replayAction },
  { name: 'export', routes: exportRoutes, action: exportAction },
  { name: 'boot', routes: bootRoutes },
  { name: 'browser', routes: browserRoutes },
  { name: 'configuration', panel: configurationPanel },
]

/** The panels of every application, in the order of the menu. */
export const featurePanels = features.flatMap(({ panel }) => panel ?? [])
