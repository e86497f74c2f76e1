import type { AnyPanel } from '../../../../../plugins/debug/profiler/panel.ts'
import { builtInPanels } from '../../../../../plugins/debug/profiler/views/panels/built-in.ts'
import { licensePanel, securityPanel } from './example-profile.ts'

/** Every panel there is, and two of an application's own: one with data, one without. */
export const panels: readonly AnyPanel[] = [...builtInPanels, licensePanel, securityPanel]
