// Where the screenshots and the data of their server are stored.
import { join, resolve } from 'node:path';

/** Removed by hand; screenshots of a later run replace those with the same name. */
export const IMAGES = resolve(process.env.LEADLINE_SCREENSHOTS ?? '../target/screenshots');
export const SHEETS = join(IMAGES, 'sheets');
/** Kept between runs, because its creation takes a few minutes. */
export const DATA = join(IMAGES, 'data');
