import type { AnyPanel } from '../../collect/panel.ts'
import { builtInPanels } from '../../show/panels/built-in.ts'
import { licensePanel, securityPanel } from './example-profile.ts'

/** Every built-in panel, and two of an application: one with data and one without. */
export const panels: readonly AnyPanel[] = [...builtInPanels, licensePanel, securityPanel]
