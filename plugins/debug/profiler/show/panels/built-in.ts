import type { AnyPanel } from '../../collect/panel.ts'
import { configurationPanel } from './configuration.ts'
import { exceptionPanel } from './exception.ts'
import { lifecyclePanel } from './lifecycle.ts'
import { logsPanel } from './logs.ts'
import { performancePanel } from './performance.ts'
import { requestPanel } from './request.ts'
import { routingPanel } from './routing.ts'

/** The panels every application has, in the order of the menu; an application's own stand before the last. */
export const builtInPanels: readonly AnyPanel[] = [
  requestPanel,
  performancePanel,
  exceptionPanel,
  logsPanel,
  lifecyclePanel,
  routingPanel,
  configurationPanel,
]
