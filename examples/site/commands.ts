import { runCommandLine } from 'portico/command-line'
import { site } from './site.js'

await runCommandLine(site)
