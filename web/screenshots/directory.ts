// Where screenshots and the data of their server are stored.
import { join, resolve } from 'node:path';

/** Must be deleted manually. New screenshots replace old ones with the same name. */
export const IMAGES = resolve(process.env.LEADLINE_SCREENSHOTS ?? '../target/screenshots');
export const SHEETS = join(IMAGES, 'sheets');
/** Kept between runs, because creating it takes a few minutes. */
export const DATA = join(IMAGES, 'data');
