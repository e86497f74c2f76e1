import type { AnyPanel } from '../../collect/panel.ts'
import { builtInPanels } from '../../show/panels/built-in.ts'
import { licensePanel, securityPanel } from './example-profile.ts'

/** Every panel there is, and two of an application's own: one with data, one without. */
export const panels: readonly AnyPanel[] = [...builtInPanels, licensePanel, securityPanel]
