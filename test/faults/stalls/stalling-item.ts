/** Item whose page stalls the process that reads it. */
export const stallingItem = '39000000999';
