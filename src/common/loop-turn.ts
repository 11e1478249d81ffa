/** Which turn of the event loop this is: the same number, the same turn. */
export function loopTurn(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount;
}
