import type { AnyPanel } from '../../collect/panel.ts'
import { configurationPanel } from './configuration.ts'
import { cpuPanel } from './cpu.ts'
import { databasePanel } from './database.ts'
import { exceptionPanel } from './exception.ts'
import { httpClientPanel } from './http-client.ts'
import { lifecyclePanel } from './lifecycle.ts'
import { logsPanel } from './logs.ts'
import { performancePanel } from './performance.ts'
import { requestPanel } from './request.ts'
import { routingPanel } from './routing.ts'

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
