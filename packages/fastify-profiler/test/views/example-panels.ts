import type { AnyPanel } from '../../core/feature.ts'
import { builtInPanels } from '../../features/built-in-panels.ts'
import { licensePanel, securityPanel } from './example-profile.ts'

/** Every built-in panel, and two of an application: one with data and one without. */
export const panels: readonly AnyPanel[] = [...builtInPanels, licensePanel, securityPanel]
