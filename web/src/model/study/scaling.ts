// How the sizes in a study were scaled to the host.
import type { Scaled } from '../../api';

/**
 * The scaling and the study's note about sizes. Empty if the sizes are as requested and the study
 * has no note.
 */
export const scalingText = ({ divided_by, sentence, note }: Scaled): string =>
  [divided_by > 1 && sentence, note].filter(Boolean).join(' ');
