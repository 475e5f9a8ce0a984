// Directories for screenshots and their server's data.
import { join, resolve } from 'node:path';

/** Never cleaned up automatically. New screenshots overwrite old ones with the same name. */
export const IMAGES = resolve(process.env.LEADLINE_SCREENSHOTS ?? '../target/screenshots');
export const SHEETS = join(IMAGES, 'sheets');
/** Kept between runs, because creating it takes a few minutes. */
export const DATA = join(IMAGES, 'data');
