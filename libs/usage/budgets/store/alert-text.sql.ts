/** SQL: the severity of a threshold. @param threshold an SQL expression */
export function alertLevel(threshold: string): string {
  return `CASE ${threshold} WHEN 100 THEN 'critical' ELSE 'warning' END`;
}

/**
 * SQL: the sentence that people read.
 *
 * @param threshold an SQL expression @param scope an SQL expression for the scope of the budget
 */
export function alertMessage(threshold: string, scope: string): string {
  const whose = `CASE ${scope} WHEN 'global' THEN 'workspace' ELSE ${scope} END`;
  return `CASE ${threshold} WHEN 100 THEN 'The budget of the ' || ${whose} || ' is used up'
      ELSE ${threshold} || ' % of the budget of the ' || ${whose} || ' is used' END`;
}

/** SQL: the used share of a budget, in whole percent. @param b an alias of usage_budgets */
export function percentUsed(b: string): string {
  return `CASE WHEN ${b}.allocated = 0 THEN 100
    ELSE trunc(${b}.consumed * 100.0 / ${b}.allocated) END`;
}
