// A saved page is a single HTML file that contains its data. There is no server, so the page shows
// no actions.
import { createContext, useContext } from 'react';

export const SavedContext = createContext(false);

export const useIsSaved = () => useContext(SavedContext);
