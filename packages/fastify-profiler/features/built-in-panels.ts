import type { AnyPanel } from '../core/feature.ts'
import { configurationPanel } from './configuration.ts'
import { exceptionPanel } from './exceptions/exception-panel.ts'
import { httpClientPanel } from './http-client/http-client-panel.ts'
import { lifecyclePanel } from './lifecycle/lifecycle-panel.ts'
import { logsPanel } from './logs/logs-panel.ts'
import { performancePanel } from './performance/performance-panel.ts'
import { databasePanel } from './queries/database-panel.ts'
import { requestPanel } from './request/request-panel.ts'
import { routingPanel } from './routing/routing-panel.ts'
import { cpuPanel } from './samples/cpu-panel.ts'

/** The panels of every application, in menu order. The application's own are inserted before the last. */
export const builtInPanels: readonly AnyPanel[] = [
  requestPanel,
  performancePanel,
  cpuPanel,
  exceptionPanel,
  logsPanel,
  databasePanel,
  httpClientPanel,
  routingPanel,
  lifecyclePanel,
  configurationPanel,
]
