/** Minimum fill of a field in percent, as texts of a form. */
export interface HoldRow {
  field: string;
  percent: string;
}

/** Reads the rows of the option `hold`: "price.amount:95,title:99". */
export const readHold = (text: string): HoldRow[] =>
  text === ''
    ? []
    : text.split(',').map((part) => {
        const end = part.lastIndexOf(':');
        return end < 0
          ? { field: part, percent: '' }
          : { field: part.slice(0, end), percent: part.slice(end + 1) };
      });

/** Writes rows as the option `hold`. */
export const writeHold = (rows: readonly HoldRow[]): string =>
  rows.map(({ field, percent }) => `${field.trim()}:${percent}`).join(',');
