import { Boundary } from '../base/boundary.ts'

type Complain = (error: unknown, message: string) => void

/** The log of the application that was installed last; null before. */
let report: Complain | null = null

/** Catches the failures of all drivers. They are shared by all applications of the process. */
export const driverBoundary = new Boundary((error, message) => report?.(error, message))

/** Logs failures of drivers to the application that was installed last. */
export function complainTo(log: Complain): void {
  report = log
}
