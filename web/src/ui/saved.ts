// A saved page is one HTML file with its data. It has no server, so it shows no actions.
import { createContext, useContext } from 'react';

export const SavedContext = createContext(false);

export const useIsSaved = () => useContext(SavedContext);
